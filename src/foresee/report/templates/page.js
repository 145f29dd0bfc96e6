(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  root.classList.add("scripted");

  // Light and dark: the system decides until the reader does.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const memory = {
    get() { try { return localStorage.getItem("foresee-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("foresee-theme", value); } catch { /* no storage for local files here */ } },
  };
  const show = () => root.classList.toggle("is-dark", root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const remembered = memory.get();
  if (remembered === "dark" || remembered === "light") root.dataset.theme = remembered;
  show();
  system.addEventListener("change", show);
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.classList.contains("is-dark") ? "light" : "dark";
    memory.set(root.dataset.theme);
    show();
  });

  // Copy buttons; where the clipboard is out of reach the text is selected instead.
  for (const button of all("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Tables sort by the values behind their cells; missing values stay at the end.
  for (const table of all("table.sortable")) {
    all("th", table).forEach((head, column) => head.querySelector(".sort").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      const numeric = head.classList.contains("num");
      const key = (row) => row.cells[column].dataset.value;
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        return (up ? 1 : -1) * (numeric ? x - y : x.localeCompare(y));
      };
      all("th", table).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    }));
  }

  // The dot nearest to the pointer tells its candidate.
  const source = document.getElementById("candidates");
  const told = source ? JSON.parse(source.textContent) : {};
  const tip = document.getElementById("tip");
  for (const svg of all("svg.chart")) {
    const dots = all(".dots", svg).flatMap((path) => {
      const ids = path.dataset.ids.split(" ");
      return path.getAttribute("d").split("M").slice(1).map((spot, i) => [...spot.split("h")[0].split(" ").map(Number), ids[i]]);
    });
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      let nearest = null, least = 14 ** 2;
      for (const dot of dots) {
        const far = (dot[0] - x) ** 2 + (dot[1] - y) ** 2;
        if (far <= least) [nearest, least] = [dot, far];
      }
      const words = nearest && told[nearest[2]];
      tip.hidden = !words;
      if (!words) return;
      const code = document.createElement("code");
      code.textContent = words[0];
      tip.replaceChildren(`${words[2] ?? "Candidate"} ${nearest[2].split(":").pop()}: ${words[1]}`, document.createElement("br"), code);
      const left = box.left + nearest[0] / scale, top = box.top + nearest[1] / scale;
      tip.style.left = `${Math.max(8, Math.min(left + scrollX + 12, scrollX + root.clientWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${top + scrollY + 14}px`;
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
})();
