function (id, address) {
  var form = document.getElementById(id);
  if (!form) return;
  function send(message) {
    if (globalThis.gonb_comm) globalThis.gonb_comm.send(address, JSON.stringify(message));
  }
  function ask() {
    if (!form.reportValidity()) return;
    send({
      question: form.elements.question.value,
      strategy: form.elements.strategy.value,
      top_k: Number(form.elements.top_k.value),
      neighbor_prev: Number(form.elements.neighbor_prev.value),
      neighbor_next: Number(form.elements.neighbor_next.value)
    });
  }
  if (!form.dataset.ready) { // it is run again until the kernel hears of it
    form.dataset.ready = 'yes';
    form.addEventListener('change', ask);
    form.addEventListener('submit', function (e) { e.preventDefault(); ask(); });
    form.elements.done.addEventListener('click', function () { send({ done: true }); });
    // A key in a form is no command of the notebook.
    form.addEventListener('keydown', function (e) { e.stopPropagation(); });
  }
  send({ ready: true });
}
