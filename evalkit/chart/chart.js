// Draws every [data-chart] figure: see Script in library.go. Texts reach the
// page through textContent or ECharts' own drawing, never as markup.
(function () {
  'use strict';

  var PRINT_WIDTH = 680; // CSS pixels of a portrait page within its margins
  var COLUMN = 320; // width of a legend entry with its sign
  var GAP = 6; // between legend entries
  var drawn = []; // {figure, chart, option}
  var printing = false;

  // Resolves a variable of the style sheet to a colour that ECharts can read.
  function colour(figure, name) {
    var probe = document.createElement('span');
    probe.style.color = 'var(' + name + ')';
    figure.appendChild(probe);
    var value = getComputedStyle(probe).color;
    probe.remove();
    return value;
  }

  function theme(figure) {
    var fg = colour(figure, '--chart-fg');
    var muted = colour(figure, '--chart-muted');
    var line = colour(figure, '--chart-line');
    var axis = {
      nameTextStyle: { color: muted },
      axisLine: { lineStyle: { color: muted } },
      axisTick: { lineStyle: { color: muted } },
      axisLabel: { color: fg },
      splitLine: { lineStyle: { color: line } }
    };
    return {
      backgroundColor: 'transparent',
      textStyle: { color: fg, fontFamily: getComputedStyle(figure).fontFamily },
      legend: { textStyle: { color: fg }, inactiveColor: muted },
      visualMap: { textStyle: { color: fg } },
      label: { color: fg },
      line: { label: { color: fg } },
      scatter: { label: { color: fg } },
      boxplot: { itemStyle: { color: 'transparent', borderColor: fg } },
      tooltip: {
        backgroundColor: colour(figure, '--chart-bg'),
        borderColor: muted,
        textStyle: { color: fg }
      },
      categoryAxis: axis,
      valueAxis: axis
    };
  }

  // Long texts are cut nowhere in a tooltip: it shows the row of the table.
  function tooltip(figure) {
    var table = figure.querySelector('.chart-table');
    return function (params) {
      var item = Array.isArray(params) ? params[0] : params;
      var row = item && item.data && table.tBodies[0].rows[item.data.row];
      if (!row) return '';
      var box = document.createElement('div');
      box.className = 'chart-tip';
      box.style.maxWidth = '300px';
      box.style.whiteSpace = 'normal';
      box.style.overflowWrap = 'anywhere';
      var head = table.tHead.rows[0].cells;
      for (var i = 0; i < row.cells.length; i++) {
        if (item.data.col && i > 0 && i !== item.data.col) continue;
        var p = document.createElement('div');
        p.textContent = head[i].textContent + ': ' + row.cells[i].textContent;
        box.appendChild(p);
      }
      return box;
    };
  }

  // How many columns of a height the entries of the legend fill.
  function columnsAt(entries, height) {
    var columns = 1;
    var y = 0;
    entries.forEach(function (h) {
      if (y > 0 && y + h > height) {
        columns++;
        y = 0;
      }
      y += h + GAP;
    });
    return columns;
  }

  // Puts the legend into as many columns as fit, and takes the height that this
  // saves off the chart.
  function fold(figure, option, width) {
    var height = Number(figure.dataset.chartHeight);
    var entries = figure.dataset.chartLegend ? figure.dataset.chartLegend.split(' ').map(Number) : [];
    var columns = Math.min(Math.floor(width / COLUMN), Math.ceil(entries.length / 4));
    if (columns < 2) return { option: option, height: height };
    var total = entries.reduce(function (sum, h) { return sum + h + GAP; }, 0);
    var folded = Math.ceil(total / columns);
    while (columnsAt(entries, folded) > columns) folded++;
    var copy = Object.assign({}, option);
    copy.legend = Object.assign({}, option.legend, { height: folded });
    copy.grid = option.grid.map(function (g) {
      return Object.assign({}, g, { bottom: Number(g.bottom) - total + folded });
    });
    return { option: copy, height: height - total + folded };
  }

  // Fills hollow symbols with the ground of the page.
  function ground(option, figure) {
    var bg = colour(figure, '--chart-bg');
    return Object.assign({}, option, { series: option.series.map(function (s) {
      if (!s.itemStyle || !s.itemStyle.borderColor || s.itemStyle.color !== 'transparent') return s;
      return Object.assign({}, s, { itemStyle: Object.assign({}, s.itemStyle, { color: bg }) });
    }) });
  }

  // What a picture shows: the key stands below the plot on the page, and in it here.
  function keyed(d) {
    var key = Array.from(d.figure.querySelectorAll('.chart-key li')).map(function (li, i) { return (i + 1) + '  ' + li.textContent; });
    if (!key.length) return d.shown;
    var room = 18 * key.length + 12;
    var lower = function (part) { return Object.assign({}, part, { bottom: Number(part.bottom) + room }); };
    return { height: d.shown.height + room, option: Object.assign({}, d.shown.option, {
      grid: d.shown.option.grid.map(lower), legend: lower(d.shown.option.legend),
      graphic: [{ type: 'text', left: 4, bottom: 4, style: { text: key.join('\n'), fontSize: 12, lineHeight: 18, fill: colour(d.figure, '--chart-fg') } }]
    }) };
  }

  function width(figure) {
    var room = printing ? PRINT_WIDTH : figure.querySelector('.chart-scroll').clientWidth;
    return printing ? room : Math.max(room, Number(figure.dataset.chartMinWidth), 200);
  }

  // A figure in a closed part of the page is drawn when it gets a width.
  function hidden(figure) { return figure.querySelector('.chart-scroll').clientWidth === 0; }

  function draw(d) {
    if (hidden(d.figure)) return;
    var w = width(d.figure);
    var f = fold(d.figure, ground(d.option, d.figure), w);
    var place = d.figure.querySelector('.chart-plot');
    if (d.chart) d.chart.dispose();
    place.style.width = w + 'px';
    place.style.height = f.height + 'px';
    d.width = w;
    d.shown = f;
    d.chart = window.echarts.init(place, theme(d.figure), { renderer: 'svg', width: w, height: f.height });
    d.chart.setOption(f.option);
    d.chart.setOption({ tooltip: { formatter: tooltip(d.figure) } });
    d.figure.dataset.chartState = 'drawn';
  }

  // Widths change with the window, and where a page opens and closes its parts.
  var waiting;
  var widths = new ResizeObserver(function () {
    clearTimeout(waiting);
    waiting = setTimeout(function () {
      drawn.forEach(function (d) { if (!printing && !hidden(d.figure) && width(d.figure) !== d.width) draw(d); });
    }, 100);
  });

  function redraw() { drawn.forEach(draw); }

  function say(figure, text) {
    var p = figure.querySelector('.chart-message');
    p.textContent = text;
    p.hidden = false;
    figure.querySelector('.chart-data').open = true;
    figure.dataset.chartState = 'failed';
  }

  function save(name, blob) {
    var a = document.createElement('a');
    a.href = URL.createObjectURL(blob);
    a.download = name;
    a.click();
    setTimeout(function () { URL.revokeObjectURL(a.href); }, 1000);
  }

  function csv(figure) {
    return Array.from(figure.querySelector('.chart-table').rows).map(function (row) {
      return Array.from(row.cells).map(function (cell) {
        var s = cell.dataset.value || cell.textContent;
        return /[",\r\n]|^\s/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
      }).join(',');
    }).join('\n') + '\n';
  }

  // A picture has the ground of the page; it is drawn anew, for the page's own
  // has none and is made of SVG.
  function picture(d, renderer, done) {
    var box = document.createElement('div');
    var shown = keyed(d);
    var chart = window.echarts.init(box, theme(d.figure), {
      renderer: renderer, width: d.width, height: shown.height, devicePixelRatio: 2
    });
    chart.setOption(shown.option);
    chart.setOption({ backgroundColor: colour(d.figure, '--chart-bg') });
    done(chart, box);
  }

  function exportAs(d, kind) {
    var name = d.figure.id + '.' + kind;
    if (kind === 'csv') {
      save(name, new Blob([csv(d.figure)], { type: 'text/csv;charset=utf-8' }));
    } else if (kind === 'svg') {
      picture(d, 'svg', function (chart) {
        save(name, new Blob([chart.renderToSVGString()], { type: 'image/svg+xml' }));
        chart.dispose();
      });
    } else {
      picture(d, 'canvas', function (chart, box) {
        box.querySelector('canvas').toBlob(function (blob) {
          save(name, blob);
          chart.dispose();
        });
      });
    }
  }

  function start(figure) {
    if (figure.dataset.chartState) return; // the script may stand in a page twice
    figure.dataset.chartState = 'waiting';
    var d = { figure: figure, option: JSON.parse(figure.querySelector('.chart-option').textContent) };
    var buttons = figure.querySelector('.chart-buttons');
    buttons.hidden = false;
    buttons.addEventListener('click', function (e) {
      var kind = e.target.dataset.chartSave;
      if (kind === 'csv' || kind && d.shown) exportAs(d, kind);
    });
    if (!window.echarts) {
      say(figure, 'This chart is not drawn: the chart library did not load. The table below holds its numbers.');
      buttons.querySelectorAll('[data-chart-save]').forEach(function (b) { b.hidden = b.dataset.chartSave !== 'csv'; });
      return;
    }
    drawn.push(d);
    try {
      draw(d);
      widths.observe(figure.querySelector('.chart-scroll'));
    } catch (e) {
      say(figure, 'This chart could not be drawn (' + e.message + '). The table below holds its numbers.');
    }
  }

  // Printing is light and as wide as a page, whatever the window is.
  function print(on) {
    if (printing === on) return;
    printing = on;
    drawn.forEach(function (d) { d.figure.classList.toggle('chart-print', on); });
    redraw();
  }

  function ready() {
    document.querySelectorAll('[data-chart]').forEach(start);
    window.addEventListener('beforeprint', function () { print(true); });
    window.addEventListener('afterprint', function () { print(false); });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
    // A page's own switch between light and dark sets a class or an attribute.
    new MutationObserver(redraw).observe(document.documentElement, { attributes: true, attributeFilter: ['class', 'data-theme', 'style'] });
  }

  if (document.readyState === 'loading') {
    document.addEventListener('DOMContentLoaded', ready);
  } else {
    ready();
  }
})();
