// Runs before anything is painted: the theme that was chosen earlier, or that of the system.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("isofold-theme");
  } catch {
    // Storage may be forbidden, as in the frame of a notebook; then nothing is remembered.
  }
  const prefersDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const known = chosen === "dark" || chosen === "light";
  document.documentElement.dataset.theme = known ? chosen : prefersDark ? "dark" : "light";
})();
