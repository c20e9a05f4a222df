// Makes tables sortable and searchable, and opens the questions of a page. Texts
// reach the page through textContent; only fragments that the templates made are
// set as markup.
(function () {
  'use strict';
  var root = document.body.dataset.root || '';
  var store = {}, waiting = {};

  // Data comes in script files, for a page opened from a folder may not fetch;
  // a page that stands alone holds it.
  window.evalkit = {
    put: function (name, value) {
      store[name] = value;
      (waiting[name] || []).forEach(function (f) { f(value); });
      delete waiting[name];
    },
    unpack: function (name, text) {
      var bytes = Uint8Array.from(atob(text), function (c) { return c.charCodeAt(0); });
      new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json().then(function (v) { window.evalkit.put(name, v); });
    }
  };
  document.querySelectorAll('script[type="application/json"][data-name]').forEach(function (s) {
    window.evalkit.put(s.dataset.name, JSON.parse(s.textContent));
  });

  function need(name, file, then, fail) {
    if (name in store) return then(store[name]);
    if (waiting[name]) return waiting[name].push(then);
    waiting[name] = [then];
    var s = document.createElement('script');
    s.src = root + file;
    s.onerror = function () { delete waiting[name]; fail('cannot load ' + file); };
    document.head.appendChild(s);
  }

  function el(tag, text, cls) {
    var e = document.createElement(tag);
    if (text !== undefined && text !== null) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  }

  function show(v) { // as number() of package report prints
    if (v === null || v === undefined) return 'n/a';
    var a = Math.abs(v);
    if (a >= 100 || (a >= 2 && a === Math.trunc(a))) return v.toFixed(0);
    return a >= 10 ? v.toFixed(1) : v.toFixed(3);
  }
  function signed(v) { return v > 0 ? '+' + show(v) : v < 0 ? '−' + show(-v) : show(0); }

  // ---- tables -----------------------------------------------------------

  function key(cell) {
    if (!cell) return { n: false, v: '' };
    var v = cell.dataset.v !== undefined ? cell.dataset.v : cell.textContent.trim();
    return v !== '' && isFinite(v) ? { n: true, v: Number(v) } : { n: false, v: v };
  }
  // Numbers before texts, and what does not exist last in either direction.
  function compare(a, b, down) {
    if (a.n !== b.n) return a.n ? -1 : 1;
    var d = a.n ? a.v - b.v : a.v.localeCompare(b.v);
    return down ? -d : d;
  }
  function sortTable(table, th) {
    var at = th.cellIndex, down = th.getAttribute('aria-sort') === 'ascending';
    table.querySelectorAll('th[aria-sort]').forEach(function (h) { h.removeAttribute('aria-sort'); });
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    var rows = Array.from(table.tBodies[0].rows).map(function (r, i) { return { r: r, k: key(r.cells[at]), i: i }; });
    rows.sort(function (a, b) { return compare(a.k, b.k, down) || a.i - b.i; });
    rows.forEach(function (x) { table.tBodies[0].appendChild(x.r); });
  }
  function sortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (th) {
      if (th.classList.contains('pick')) return;
      var b = el('button', null, 'sort');
      b.type = 'button';
      while (th.firstChild) b.appendChild(th.firstChild);
      th.appendChild(b);
      b.addEventListener('click', function () { sortTable(table, th); });
    });
  }
  document.querySelectorAll('table.sortable').forEach(sortable);

  document.querySelectorAll('input[data-filter]').forEach(function (input) {
    var table = document.getElementById(input.dataset.filter);
    var count = document.querySelector('[data-count="' + input.dataset.filter + '"]');
    function apply() {
      var words = input.value.toLowerCase().split(/\s+/), n = 0, rows = table.tBodies[0].rows;
      Array.from(rows).forEach(function (r) {
        var text = r.textContent.toLowerCase();
        r.hidden = !words.every(function (w) { return text.indexOf(w) >= 0; });
        if (!r.hidden) n++;
      });
      count.textContent = n + ' of ' + rows.length;
    }
    input.addEventListener('input', apply);
    apply();
  });

  // ---- Experiments list -------------------------------------------------

  var link = document.getElementById('compare');
  if (link) {
    var picked = [];
    document.querySelectorAll('#experiments .pick input').forEach(function (box) {
      box.checked = false;
      box.addEventListener('change', function () {
        picked = picked.filter(function (id) { return id !== box.value; });
        if (box.checked) picked.push(box.value);
        var max = Number(link.dataset.max), ok = picked.length >= 2 && picked.length <= max;
        link.setAttribute('aria-disabled', String(!ok));
        link.textContent = ok ? 'Compare ' + picked.length : picked.length > max ? 'Select at most ' + max : 'Select two to compare';
        if (ok) link.href = 'compare/' + picked[0] + '.html#' + picked.slice(1).join(',');
        else link.removeAttribute('href');
      });
    });
  }

  // ---- Compare ----------------------------------------------------------

  // Holm's correction, as package compare does it, over the cells that are shown.
  function holm(cells) {
    var order = cells.slice().sort(function (a, b) { return a.dataset.p - b.dataset.p; }), last = 0;
    order.forEach(function (c, i) {
      last = Math.max(last, Math.min(1, (order.length - i) * Number(c.dataset.p)));
      var verdict = 'not shown to differ';
      if (c.dataset.tie === 'true') verdict = 'no difference';
      else if (last <= 0.05 && c.dataset.clear === 'true') verdict = (Number(c.dataset.mean) > 0) === (c.dataset.higher === 'true') ? 'better' : 'worse';
      c.dataset.verdict = verdict;
      c.querySelector('.verdict').textContent = verdict;
      c.querySelector('.holm').textContent = last < 0.001 ? '< 0.001' : last === 1 ? '1' : last.toFixed(3);
    });
  }
  function select(ids) {
    var wanted = decodeURIComponent(location.hash.slice(1)).split(',').filter(Boolean);
    var shown = ids.map(function (id, i) { return i === 0 || wanted.length === 0 || wanted.indexOf(id) >= 0; });
    document.querySelectorAll('[data-col]').forEach(function (e) { e.hidden = !shown[e.dataset.col]; });
    var cells = Array.from(document.querySelectorAll('.delta[data-p]')).filter(function (c) { return !c.closest('[hidden]'); });
    holm(cells);
    var missing = wanted.filter(function (id) { return ids.indexOf(id) < 0; });
    var list = document.querySelector('[data-role=warnings] ul');
    list.querySelectorAll('[data-gap]').forEach(function (e) { e.remove(); });
    missing.forEach(function (id) {
      var li = el('li', id + ' cannot be shown: it is not here, or is of another data set');
      li.dataset.gap = 'yes';
      list.appendChild(li);
    });
    var family = document.querySelector('[data-role=family]');
    family.firstChild.textContent = (cells.length === 1 ? 'one test: the corrected p is the raw p' : 'p corrected by Holm over all ' + cells.length + ' tests shown') + family.firstChild.textContent.replace(/^[^.]*/, '');
    list.parentNode.hidden = !Array.from(list.children).some(function (li) { return !li.hidden; });
    toggleSeries(shown);
    return shown;
  }
  // A chart has a series for every column; those of hidden columns are switched off.
  function toggleSeries(shown) {
    if (!window.echarts) return;
    var names = Array.from(document.querySelectorAll('table.columns thead th[data-col]')).map(function (th) { return th.firstChild.textContent; });
    document.querySelectorAll('[data-chart]').forEach(function (figure) {
      function apply() {
        var chart = window.echarts.getInstanceByDom(figure.querySelector('.chart-plot'));
        if (chart) names.forEach(function (n, i) { chart.dispatchAction({ type: figure.shown[i] ? 'legendSelect' : 'legendUnSelect', name: n }); });
      }
      if (!figure.shown) new MutationObserver(apply).observe(figure, { attributes: true, attributeFilter: ['data-chart-state'] });
      figure.shown = shown;
      apply();
    });
  }

  // ---- questions --------------------------------------------------------

  function option(select, value, text) {
    var o = el('option', text);
    o.value = value;
    select.appendChild(o);
  }
  function role(box, name) { return box.querySelector('[data-role="' + name + '"]'); }

  // fragment puts a question of one strategy of one Experiment into place.
  function fragment(scores, strategy, query, place, title, then) {
    var page = Math.floor(query / scores.per_page), name = 'q/' + scores.id + '/' + strategy + '/' + page;
    function fill(content) {
      place.textContent = '';
      if (title) place.appendChild(el('h4', title));
      place.appendChild(content);
      then();
    }
    place.appendChild(el('p', 'loading …', 'muted'));
    need(name, 'e/' + scores.id + '/q/' + strategy + '/' + page + '.js', function (html) {
      var body = el('div');
      body.innerHTML = html[scores.queries[query][0]];
      fill(body);
    }, function (why) { fill(el('p', why, 'warning')); });
  }

  // pager shows rows of a list, PAGE at a time.
  var PAGE = 50;
  function pager(box, draw) {
    var at = 0, rows = [];
    function paint() {
      var body = box.querySelector('tbody');
      body.textContent = '';
      rows.slice(at, at + PAGE).forEach(function (r) { body.appendChild(draw(r)); });
      role(box, 'count').textContent = rows.length === 0 ? 'no question' : (at + 1) + '–' + Math.min(rows.length, at + PAGE) + ' of ' + rows.length;
      role(box, 'prev').disabled = at === 0;
      role(box, 'next').disabled = at + PAGE >= rows.length;
    }
    role(box, 'prev').addEventListener('click', function () { at = Math.max(0, at - PAGE); paint(); });
    role(box, 'next').addEventListener('click', function () { at += PAGE; paint(); });
    return function (list) { rows = list; at = 0; paint(); };
  }

  // opener opens a question in a row of its own below, so that it stands where
  // the eye and the focus are; again, or Escape, closes it. One is open at a time.
  // parts are the arguments of fragment, one list for each that stands side by side.
  var opened = 0;
  function opener(text, parts) {
    var b = el('button', text, 'linklike');
    b.type = 'button';
    b.setAttribute('aria-expanded', 'false');
    b.addEventListener('click', function () {
      var row = b.closest('tr'), before = row.parentNode.querySelector('tr.detail'), mine = before && before.previousSibling === row;
      if (before) close(before);
      if (!mine) open(row, b, parts());
    });
    return b;
  }
  function close(detail) {
    var row = detail.previousSibling, b = row.querySelector('[aria-expanded]');
    row.removeAttribute('aria-selected');
    b.setAttribute('aria-expanded', 'false');
    b.removeAttribute('aria-controls');
    detail.remove();
    return b;
  }
  function open(row, b, parts) {
    var detail = el('tr', null, 'detail'), td = el('td'), panel = el('div', null, 'panel' + (parts.length > 1 ? ' pair' : ''));
    panel.dataset.role = 'panel';
    panel.id = 'panel-' + ++opened;
    td.colSpan = row.cells.length;
    td.appendChild(panel);
    detail.appendChild(td);
    detail.addEventListener('keydown', function (e) { if (e.key === 'Escape') close(detail).focus(); });
    row.setAttribute('aria-selected', 'true');
    b.setAttribute('aria-expanded', 'true');
    b.setAttribute('aria-controls', panel.id);
    row.parentNode.insertBefore(detail, row.nextSibling);
    parts.forEach(function (p) {
      var place = el('div');
      panel.appendChild(place);
      fragment(p[0], p[1], p[2], place, p[3], function () { reveal(row, panel); });
    });
  }
  // reveal scrolls to the row where its panel would end outside the window.
  function reveal(row, panel) {
    if (panel.getBoundingClientRect().bottom > window.innerHeight || row.getBoundingClientRect().top < 0) row.scrollIntoView({ block: 'start' });
  }
  function numberCell(v, title) {
    var td = el('td', show(v), v === null ? 'num na' : 'num');
    if (title) td.title = title;
    return td;
  }

  document.querySelectorAll('[data-questions]').forEach(function (box) {
    var id = box.dataset.questions;
    need('scores/' + id, 'e/' + id + '/scores.js', function (scores) { questions(box, scores); }, function (why) { role(box, 'count').textContent = why; });
  });

  function questions(box, scores) {
    var strategy = role(box, 'strategy'), search = role(box, 'search'), filter = role(box, 'show');
    scores.strategies.forEach(function (s, i) {
      option(strategy, i, s.label + ' ' + s.badge);
      strategy.lastChild.title = s.name;
    });
    var sortBy = -1, down = false;
    var head = el('tr');
    ['question'].concat(scores.measures).forEach(function (name, i) {
      var th = el('th', null, i ? 'num' : ''), b = el('button', name, 'sort');
      b.type = 'button';
      b.addEventListener('click', function () {
        down = sortBy === i - 1 && !down;
        sortBy = i - 1;
        Array.from(head.cells).forEach(function (h) { h.removeAttribute('aria-sort'); });
        th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        refresh();
      });
      th.appendChild(b);
      head.appendChild(th);
    });
    box.querySelector('thead').appendChild(head);
    var hit = scores.measures.indexOf('recall'), all = scores.measures.indexOf('recall+');
    var fill = pager(box, function (i) {
      var s = scores.strategies[strategy.value], tr = el('tr'), td = el('td'), q = scores.queries[i];
      td.appendChild(opener(q[1], function () { return [[scores, strategy.value, i]]; }));
      td.appendChild(el('span', ' ' + q[0] + (scores.kinds[i] ? ' · ' + scores.kinds[i] : '') + (s.failed.indexOf(i) >= 0 ? ' · failed, counts 0' : ''), 'muted small'));
      tr.appendChild(td);
      scores.measures.forEach(function (_, m) { tr.appendChild(numberCell(s.values[m][i])); });
      return tr;
    });
    function refresh() {
      var s = scores.strategies[strategy.value], words = search.value.toLowerCase().split(/\s+/);
      var value = function (m, i) { return m < 0 || !s.values[m] ? null : s.values[m][i]; };
      var rows = [];
      scores.queries.forEach(function (q, i) {
        var text = (q[0] + ' ' + q[1]).toLowerCase(), a = value(all, i), h = value(hit, i);
        var ok = { all: true, missed: a !== null && a < 1, zero: a === 0, neighbor: a !== null && a > h, failed: a === null || s.failed.indexOf(i) >= 0 }[filter.value];
        if (ok && words.every(function (w) { return text.indexOf(w) >= 0; })) rows.push(i);
      });
      if (sortBy >= 0) rows.sort(function (x, y) {
        var a = value(sortBy, x), b = value(sortBy, y);
        return compare({ n: a !== null, v: a === null ? '' : a }, { n: b !== null, v: b === null ? '' : b }, down) || x - y;
      });
      else if (down) rows.reverse();
      fill(rows);
    }
    [strategy, filter].forEach(function (s) { s.addEventListener('change', refresh); });
    search.addEventListener('input', refresh);
    refresh();
  }

  // moved lists the questions that differ between the baseline and a column.
  function moved(box, ids, shown) {
    var sheet = role(box, 'sheet'), arm = role(box, 'arm'), measure = role(box, 'measure'), filter = role(box, 'show');
    var names = Array.from(document.querySelectorAll('table.columns thead th[data-col]')).map(function (th) { return th.firstChild.textContent; });
    arm.textContent = '';
    ids.forEach(function (id, i) { if (i && shown[i]) option(arm, id, names[i]); });
    if (!arm.options.length) { box.hidden = true; return; }
    box.hidden = false;
    var state = null;
    var fill = box.fill || (box.fill = pager(box, function (r) { return row(box.state, r); }));
    function row(st, r) {
      var tr = el('tr'), td = el('td'), q = st.a.queries[r.i];
      td.appendChild(opener(q[1], function () {
        return [[st.a, st.sa, r.i, 'baseline'], [st.b, st.sb, r.j, arm.options[arm.selectedIndex].text]];
      }));
      td.appendChild(el('span', ' ' + q[0], 'muted small'));
      tr.appendChild(td);
      tr.appendChild(numberCell(r.x));
      tr.appendChild(numberCell(r.y));
      tr.appendChild(el('td', signed(r.d), 'num'));
      var bar = el('span', null, 'bar'), i = el('i', null, r.d > 0 ? 'up' : 'down');
      i.style.width = (50 * Math.abs(r.d) / (st.max || 1)) + '%';
      if (r.d) bar.appendChild(i);
      var cell = el('td');
      cell.appendChild(bar);
      tr.appendChild(cell);
      return tr;
    }
    function refresh() {
      need('scores/' + ids[0], 'e/' + ids[0] + '/scores.js', function (a) {
        need('scores/' + arm.value, 'e/' + arm.value + '/scores.js', function (b) { list(a, b); }, complain);
      }, complain);
    }
    function complain(why) { role(box, 'count').textContent = why; }
    function list(a, b) {
      var title = sheet.options[sheet.selectedIndex].dataset.name;
      var find = function (s) { return s.strategies.findIndex(function (x) { return x.name === title; }); };
      var sa = find(a), sb = find(b);
      if (sa < 0) sa = 0;
      if (sb < 0) sb = 0;
      if (!measure.options.length) {
        a.measures.forEach(function (m, i) { option(measure, i, m); });
        measure.value = Math.max(0, a.measures.indexOf('recall+'));
      }
      var m = Number(measure.value), higher = a.higher[m], at = {}, rows = [], max = 0;
      b.queries.forEach(function (q, j) { at[q[0]] = j; });
      a.queries.forEach(function (q, i) {
        var j = at[q[0]];
        if (j === undefined) return;
        var x = a.strategies[sa].values[m][i], y = b.strategies[sb].values[m][j];
        if (x === null || y === null) return;
        var d = y - x, better = higher ? d > 0 : d < 0;
        max = Math.max(max, Math.abs(d));
        if ({ moved: d !== 0, regressed: d !== 0 && !better, improved: d !== 0 && better, unchanged: d === 0, all: true }[filter.value]) rows.push({ i: i, j: j, x: x, y: y, d: d });
      });
      rows.sort(function (p, q) { return Math.abs(q.d) - Math.abs(p.d) || p.i - q.i; });
      box.state = { a: a, b: b, sa: sa, sb: sb, max: max };
      fill(rows);
    }
    if (!box.wired) {
      box.wired = true;
      [sheet, arm, measure, filter].forEach(function (s) { s.addEventListener('change', function () { box.refresh(); }); });
    }
    box.refresh = refresh;
    refresh();
  }

  // ---- what only a server can do ----------------------------------------

  function complain(response) {
    return response.json().then(function (p) { throw new Error(p.error || response.statusText); });
  }
  var ask = document.querySelector('[data-ask]');
  if (ask) ask.addEventListener('submit', function (e) {
    e.preventDefault();
    var result = document.querySelector('[data-role=result]'), f = new FormData(ask), body = {};
    f.forEach(function (v, k) { body[k] = /^(top_k|neighbor_prev|neighbor_next)$/.test(k) ? Number(v) : v; });
    result.textContent = 'retrieving …';
    fetch(root + 'api/query', { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'text/html' }, body: JSON.stringify(body) })
      .then(function (r) { return r.ok ? r.text() : complain(r); })
      .then(function (html) { result.innerHTML = html; })
      .catch(function (err) { result.textContent = ''; result.appendChild(el('p', err.message, 'warning')); });
  });

  var start = document.querySelector('[data-run]');
  if (start) {
    var box = document.querySelector('[data-role=runs]'), problem = document.querySelector('[data-role=problem]'), drawn = {};
    var draw = function (s) {
      var d = drawn[s.id];
      if (!d) {
        d = drawn[s.id] = el('section', null, 'question');
        box.insertBefore(d, box.firstChild);
      }
      d.textContent = '';
      d.appendChild(el('h3', s.name + ': ' + s.state));
      if (s.state === 'running') {
        var bar = el('progress');
        bar.max = s.total || 1;
        bar.value = s.done;
        bar.setAttribute('aria-label', 'progress');
        d.appendChild(bar);
        d.appendChild(el('p', (s.stage || 'starting') + ' ' + (s.what || '') + ' ' + s.done + ' of ' + s.total, 'muted small'));
        var stop = el('button', 'Cancel');
        stop.type = 'button';
        stop.addEventListener('click', function () { fetch(root + 'api/runs/' + s.id, { method: 'DELETE' }); });
        d.appendChild(stop);
      }
      if (s.error) d.appendChild(el('p', s.error, 'warning'));
      s.experiments.forEach(function (id) {
        var p = el('p'), a = el('a', id);
        a.href = root + 'e/' + encodeURIComponent(id) + '/index.html';
        p.appendChild(a);
        d.appendChild(p);
      });
    };
    var follow = function (id) {
      var source = new EventSource(root + 'api/runs/' + id + '/events');
      source.onmessage = function (m) {
        var s = JSON.parse(m.data);
        draw(s);
        if (s.state !== 'running') source.close();
      };
    };
    fetch(root + 'api/runs').then(function (r) { return r.json(); }).then(function (all) {
      all.forEach(function (s) { draw(s); if (s.state === 'running') follow(s.id); });
    });
    start.addEventListener('submit', function (e) {
      e.preventDefault();
      problem.hidden = true;
      fetch(root + 'api/experiments', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: start.elements.config.value })
        .then(function (r) { return r.ok ? r.json() : complain(r); })
        .then(function (s) { draw(s); follow(s.id); })
        .catch(function (err) { problem.textContent = err.message; problem.hidden = false; });
    });
  }

  if ('columns' in store) {
    var box = document.querySelector('[data-moved]');
    var apply = function () { moved(box, store.columns, select(store.columns)); };
    window.addEventListener('hashchange', apply);
    apply();
  }
})();
