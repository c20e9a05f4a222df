// Charts are drawn anew when the root's data-theme changes; Jupyter marks the body.
(function () {
  function mark() {
    var dark = document.body.dataset.jpThemeLight === 'false' || /vscode-(dark|high-contrast)/.test(document.body.className);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  }
  mark();
  new MutationObserver(mark).observe(document.body, { attributes: true, attributeFilter: ['class', 'data-jp-theme-light'] });
})();
