// What the tests ask in the page: where something is that a person would look for by its kind and its name. It is no part of the page.
(() => {
	const kinds = {
		button: 'button, a.button, summary', link: 'a[href]:not(.button)', field: 'input:not([type=radio], [type=checkbox]), textarea',
		radio: 'input[type=radio]', checkbox: 'input[type=checkbox]', select: 'select', option: '[role=option]', heading: 'h1, h2, h3',
		cell: '[role=gridcell]', text: 'main *, [role=alert] *, [role=status], .notices *, dialog *',
	};
	const clean = (text) => (text || '').replace(/\s+/g, ' ').trim();
	const written = (node) => node.nodeType === 3 ? node.data
		: node.nodeType !== 1 || node.getAttribute('aria-hidden') === 'true' || node.matches('input, select, textarea, datalist') ? ''
		: [...node.childNodes].map(written).join(/^(DIV|P|LI|TD|TH|DD|DT)$/.test(node.tagName) ? ' ' : '');
	const name = (e) => {
		const by = e.getAttribute('aria-labelledby');
		return clean(e.getAttribute('aria-label') || (by && by.split(' ').map((id) => written(document.getElementById(id))).join(' '))
			|| [...(e.labels || [])].map(written).join(' ') || written(e) || e.placeholder || e.title);
	};
	const isSeen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
	// all are the things of a kind with a name; a name that ends with “…” is the beginning of one.
	const all = (kind, wanted, within) => [...document.querySelectorAll(within ? `:is(${within}) :is(${kinds[kind]})` : kinds[kind])].filter((e) => isSeen(e)
		&& (wanted.endsWith('…') ? name(e).startsWith(wanted.slice(0, -1)) : name(e) === wanted));
	const isDisabled = (e) => e.disabled || e.getAttribute('aria-disabled') === 'true';
	const names = (kind, within) => [...document.querySelectorAll(within ? `:is(${within}) :is(${kinds[kind]})` : kinds[kind])].filter(isSeen).map(name);
	let waiting = 0; // for answers of the server, other than news of its state
	const fetched = window.fetch;
	window.fetch = (url, request) => {
		if (String(url).includes('/api/state')) return fetched(url, request);
		waiting++;
		return fetched(url, request).finally(() => { waiting--; });
	};
	const isQuiet = () => waiting === 0 && !document.querySelector('header.top progress');
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	window.studioTest = {
		all, name, names,
		// find waits for the one thing and keeps it.
		async find(kind, wanted, within, patience) {
			for (const end = Date.now() + patience; ;) {
				const found = all(kind, wanted, within);
				if (found.length === 1 && !isDisabled(found[0])) { window.studioFound = found[0]; return ''; }
				if (Date.now() > end) return found.length > 1 ? `${found.length} of them` : found.length ? 'it is disabled' : `there are ${JSON.stringify(names(kind, within)).slice(0, 4000)}`;
				await new Promise((done) => setTimeout(done, 30));
			}
		},
		// point scrolls the found thing into view and returns where to click, when the page has come to rest and nothing else lies over it.
		async point() {
			const e = window.studioFound;
			window.studioHit = '';
			document.addEventListener('click', (click) => { window.studioHit = (e.labels?.[0] || e).contains(click.target) || e.contains(click.target) ? 'found' : name(click.target); },
				{ capture: true, once: true });
			e.scrollIntoView({ block: 'center', inline: 'center' });
			for (let before = '', since = 0, n = 0; n < 600 && e.isConnected; n++) {
				await frame();
				const target = e.matches('input[type=radio], input[type=checkbox]') && e.labels[0] || e, r = target.getClientRects()[0];
				if (!r) return null;
				const x = r.left + r.width / 2, y = r.top + r.height / 2, at = document.elementFromPoint(x, y);
				if (!isQuiet() || before !== x + ' ' + y) since = Date.now();
				else if (Date.now() - since > 150 && at && (target.contains(at) || e.contains(at))) return [x, y]; // nobody clicks sooner
				before = x + ' ' + y;
			}
			return null;
		},
		// hit says what the click hit that followed point; '' when it hit nothing that was still there.
		hit: () => window.studioHit,
		// focus says where the focus is: the found thing, or what else; and what is wrong with how it shows.
		focus() {
			const e = document.activeElement, found = window.studioFound;
			const at = e === found ? 'found' : e.type === 'radio' && found && found.type === 'radio' && e.name === found.name ? 'group' : e.tagName.toLowerCase();
			const isBefore = Boolean(found && e.compareDocumentPosition(found) & Node.DOCUMENT_POSITION_PRECEDING) && e !== document.body;
			if (e === document.body) return { at, name: '', fault: '' };
			const shows = [e, e.closest('label, li, tr, .picker'), e.labels && e.labels[0], e.nextElementSibling].filter(Boolean).some((p) => {
				const s = getComputedStyle(p);
				return (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1) || s.boxShadow !== 'none';
			});
			const r = e.getBoundingClientRect(), isThere = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
			return { at, name: name(e), isBefore, typing: e.matches('input:not([type=radio], [type=checkbox]), textarea, select'), isRow: e.matches('th a'), fault: !shows ? 'the focus does not show' : !isThere ? 'the focus is out of sight' : '' };
		},
		// focusOn waits until the focus is at what has a name, and returns '', or where the focus is; the name may end with “…”.
		async focusOn(wanted, patience) {
			for (const end = Date.now() + patience; ;) {
				const at = document.activeElement === document.body ? '' : name(document.activeElement);
				if (at && (wanted.endsWith('…') ? at.startsWith(wanted.slice(0, -1)) : at === wanted)) return '';
				if (Date.now() > end) return `“${at}”`;
				await new Promise((done) => setTimeout(done, 30));
			}
		},
		// until waits for a text in the elements of a selector.
		async until(selector, wanted, patience) {
			for (const end = Date.now() + patience; ;) {
				const seen = [...document.querySelectorAll(selector)].filter(isSeen).map((e) => clean(e.matches('input, textarea, select') ? e.value : e.innerText));
				if (seen.some((text) => text.includes(wanted))) return '';
				if (Date.now() > end) return JSON.stringify(seen).slice(0, 4000);
				await new Promise((done) => setTimeout(done, 30));
			}
		},
		// gone waits until no element of a selector is to be seen.
		async gone(selector, patience) {
			for (const end = Date.now() + patience; ;) {
				const seen = [...document.querySelectorAll(selector)].filter(isSeen);
				if (!seen.length) return '';
				if (Date.now() > end) return clean(seen[0].innerText);
				await new Promise((done) => setTimeout(done, 30));
			}
		},
	};
})()
