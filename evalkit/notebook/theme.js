// Charts are drawn anew when the root's data-theme is set; Jupyter marks the body,
// and leaves cells that are out of sight without a width, where nothing can be
// drawn: their charts follow when they come into sight.
(function () {
  var root = document.documentElement;
  var late = new IntersectionObserver(function (entries) {
    var seen = entries.filter(function (e) { return e.isIntersecting; });
    seen.forEach(function (e) { late.unobserve(e.target); });
    if (seen.length) setTimeout(function () { root.dataset.theme = root.dataset.theme; }, 50);
  });
  function mark() {
    var dark = document.body.dataset.jpThemeLight === 'false' || /vscode-(dark|high-contrast)/.test(document.body.className);
    var theme = dark ? 'dark' : 'light';
    if (root.dataset.theme === theme) return;
    root.dataset.theme = theme;
    document.querySelectorAll('.evalkit [data-chart]').forEach(function (f) { late.observe(f); });
  }
  mark();
  new MutationObserver(mark).observe(document.body, { attributes: true, attributeFilter: ['class', 'data-jp-theme-light'] });
})();
