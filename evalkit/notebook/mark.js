// Writes the entry of gold for the passage that is selected in a document.
(function () {
  function count(text, quote, before) {
    var n = 0;
    for (var i = text.indexOf(quote); i >= 0 && i < before; i = text.indexOf(quote, i + 1)) n++;
    return n;
  }
  function marked(box, out) {
    var s = window.getSelection();
    if (!s.rangeCount || !box.contains(s.anchorNode) || !box.contains(s.focusNode)) return;
    var text = box.textContent;
    var start = Math.min(s.anchorOffset, s.focusOffset); // the text is one node
    var quote = text.slice(start, Math.max(s.anchorOffset, s.focusOffset));
    if (!quote.trim()) return;
    var entry = { doc: box.dataset.doc, quote: quote };
    if (count(text, quote, Infinity) > 1) entry.occurrence = count(text, quote, start) + 1;
    out.value = JSON.stringify(entry);
  }
  document.querySelectorAll('.evalkit .mark').forEach(function (m) {
    var box = m.querySelector('[data-doc]');
    if (m.dataset.ready) return;
    m.dataset.ready = 'yes';
    document.addEventListener('selectionchange', function () { marked(box, m.querySelector('textarea')); });
  });
})();
