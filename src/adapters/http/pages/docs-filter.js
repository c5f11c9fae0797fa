/** The script of `/docs`: shows only routes whose method, path and summary contain every word of the filter. */
const filter = document.querySelector('#filter');
const routes = [...document.querySelectorAll('[data-route]')];

filter.closest('[hidden]').hidden = false;
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const route of routes) route.hidden = !words.every((word) => route.dataset.route.includes(word));
});
