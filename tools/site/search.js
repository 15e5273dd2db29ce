// The search of the site, also where its pages are opened as files: from these browsers load no workers and no JSON.
// Pages and the index are in search/pages.js, which is loaded by the page of results alone.
(function () {
  const field = document.getElementById("mkdocs-search-query");
  const results = document.getElementById("mkdocs-search-results");
  if (!field || !results) return;

  function load(name, then) {
    const script = document.createElement("script");
    script.src = base_url + "/search/" + name;
    script.onload = then;
    document.head.append(script);
  }

  function element(kind, text) {
    const made = document.createElement(kind);
    made.textContent = text;
    return made;
  }

  // What stands around the first of the words.
  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    const begin = Math.max(0, Math.min(...places, text.length) - 80);
    return (begin > 0 ? "..." : "") + text.slice(places.length ? begin : 0, begin + 240);
  }

  function show(index) {
    const words = lunr.tokenizer(field.value.toLowerCase()).map(String);
    const found = index.query((query) => {
      for (const word of words) {
        query.term(word, {boost: 10});
        query.term(word, {usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING});
      }
    });
    results.replaceChildren();
    if (found.length == 0) results.append(element("p", "No page has these words."));
    for (const {ref} of found.slice(0, 50)) {
      const page = quarksmith_pages[ref];
      const whole = titles.get(page.location.split("#")[0]);
      const link = element("a", whole && whole != page.title ? whole + ": " + page.title : page.title);
      link.href = base_url + "/" + page.location;
      const title = element("h3", "");
      title.append(link);
      results.append(title, element("p", excerpt(page.text, words)));
    }
  }

  let titles;
  load("lunr.js", () => load("pages.js", () => {
    titles = new Map(quarksmith_pages.map((page) => [page.location, page.title]));
    lunr.tokenizer.separator = /[\s\-]+/;
    const index = lunr(function () {
      this.field("title", {boost: 10});
      this.field("text");
      quarksmith_pages.forEach((page, number) => this.add({id: number, title: page.title, text: page.text}));
    });
    field.value = new URLSearchParams(window.location.search).get("q") || field.value;
    field.addEventListener("input", () => show(index));
    show(index);
  }));
})();
