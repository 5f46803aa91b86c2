// @ts-check
// The mirror of the columns: everything that the service can get, in the order in which it is sent.

import { RuleEditor } from './editor.js';
import { html } from './lib.js';
import { describe, members } from './rule.js';
import { takeIn } from './pending.js';
import { go, link, route, stay } from './route.js';
import { patch, state, suggestions, targetAt } from './store.js';
import { Questions, Reasons, Suggested } from './suggestions.js';
import { Act, arrows, Chip, Choice, Clients, Panel, Verdict } from './ui.js';
import { count, groups, typeName } from './words.js';

/** @typedef {import('./types.js').Target} Target */

/** @param {Target} t */
const isUnfilled = (t) => t.rule === null || t.rule === undefined;
/** @param {Target} t */
const isMissing = (t) => isUnfilled(t) && t.required === true;

/** Reports whether the mapping reads a value as another type than the service names. @param {Target} t */
const isOwnType = (t) => Boolean(members(t.rule).type) && t.typeFrom !== 'default' && (t.typeFrom === 'mapping' || members(t.rule).type !== t.type);

/** @type {[string, string, (t: Target) => boolean][]} */
const filters = [
	['all', 'All', () => true],
	['missing', 'Required and unfilled', isMissing],
	['unfilled', 'Unfilled', isUnfilled],
	['errors', 'With errors', (t) => (t.errors || 0) > 0],
	['confirm', 'To confirm', (t) => isUnfilled(t) && suggestions.value.some((s) => s.path === t.path && !s.sure)],
];

export function Targets() {
	const { targets } = /** @type {import('./types.js').State} */ (state.value);
	const { at, show = 'all' } = route.value.query;
	const fits = filters.find(([name]) => name === show)?.[2] || (() => true);
	const chosen = targetAt(at);
	const query = show === 'all' ? '' : show;
	return html`<div class=${chosen ? 'split' : ''}>
		<section class="list" aria-labelledby="view-title">
			<header class="tools">
				<h1 id="view-title">Fields of the service</h1>
				<${Choice} label="Which of them" value=${show}
					onPick=${(/** @type {string} */ name) => stay('targets', { at, show: name === 'all' ? '' : name })}
					options=${filters.map(([name, words, f]) => [name, words, targets.filter(f).length])} />
				<p class="faint keys-helper"><${Clients} /></p>
			</header>
			<div class="scroll" onKeyDown=${arrows('th a')}>
				<${ToDecide} />
				${sections(targets.filter(fits)).map(([title, list, about]) => html`<${Section} key=${about ? entryOf(about) : title} title=${title} about=${about}
					list=${list} at=${chosen?.path} query=${query} />`)}
				${!targets.some(fits) && html`<p class="nothing">
					${show === 'missing' ? 'Everything that the service requires is filled.' : targets.length ? 'Nothing here.' : 'The file cannot be read as it is; fix it first.'}</p>`}
			</div>
		</section>
		${chosen && html`<${TargetPanel} target=${chosen} onClose=${() => { stay('targets', { show: query }); focusRow(chosen.path); }} />`}
	</div>`;
}

/** @param {string} path */
const focusRow = (path) => requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector(`tr[data-path="${CSS.escape(path)}"] th a`))?.focus());

/** The targets in sections: required and unfilled ones first, then by group; each activity and each claim is a section of its own.
 * @param {Target[]} targets @returns {[string, Target[], Target?][]} */
function sections(targets) {
	/** @type {[string, Target[], Target?][]} */
	const list = [];
	const missing = targets.filter(isMissing);
	if (missing.length) list.push(['Required and unfilled', missing]);
	const rest = targets.filter((t) => !isMissing(t));
	for (const [group, title] of groups) {
		const mine = rest.filter((t) => t.group === group);
		if (!['activity', 'claims'].includes(group)) { if (mine.length) list.push([title, mine]); continue; }
		for (const entry of new Set(mine.map(entryOf))) {
			const its = mine.filter((t) => entryOf(t) === entry);
			list.push([its[0].of || title, its, its[0]]);
		}
	}
	return list;
}

/** The path of the activity or claim that a target belongs to; two activities may be of one template. @param {Target} t */
const entryOf = (t) => t.path.split('/').slice(0, 3).join('/');

/** @param {{title: string, list: Target[], about?: Target, at?: string, query: string}} props */
function Section({ title, list, about, at, query }) {
	const missing = list.every(isMissing);
	return html`<table class=${'rows targets' + (missing ? ' missing' : '')}>
		<caption>${title} ${about && html`<${Chip}>
			${about.path.startsWith('/activities/template=') ? 'not sent yet' : `for each ${about.on || 'client'}`}<//>`}
			${about?.status && html` <${Chip}>${statusWords(about.status)}<//>`}</caption>
		<thead class="hidden"><tr><th scope="col">What</th><th scope="col">Type</th><th scope="col">Filled by</th><th scope="col">Over all rows</th>
			</tr></thead>
		<tbody>${list.map((t) => html`<tr key=${t.path} data-path=${t.path} class=${t.path === at ? 'chosen' : ''}
			onClick=${(/** @type {Event} */ e) => { if (!/** @type {Element} */ (e.target).closest('a, button')) go('targets', { at: t.path, show: query }); }}>
			<th scope="row"><a href=${link('targets', { at: t.path, show: query })} aria-current=${t.path === at ? 'true' : undefined}>${t.title}</a>
				${missing && t.of && html` <span class="faint">${t.of}</span>`}
				${t.required && !missing && html` <span class="required" title="required">required</span>`}</th>
			<td class="type">${typeName(isOwnType(t) ? members(t.rule).type : t.type)}${isOwnType(t) && html` <${Chip}>your choice<//>`}</td>
			<td class="goes"><${FilledBy} target=${t} /></td>
			<td class="over">${(t.usable || 0) + (t.errors || 0) + (t.empty || 0) > 0 && html`<${Verdict} ...${t} />`}</td>
		</tr>`)}</tbody>
	</table>`;
}

/** @param {string} status */
const statusWords = (status) => ({ Open: 'open: the client fills it in', BackFilled: 'back-filled: sent as done, from the sheet' })[status]
	|| status.toLowerCase();

/** @param {{target: Target}} props */
function FilledBy({ target: t }) {
	if (!isUnfilled(t)) return html`${t.columns.map((letter) => html`<span class="code letter">${letter}</span> `)}${describe(t)}`;
	const suggestion = suggestions.value.find((s) => s.path === t.path);
	if (suggestion) return html`<${Suggested} suggestion=${suggestion} from=${true} />`;
	return html`<span class="faint">${t.status === 'Open' ? 'the client fills it in' : t.required ? 'nothing yet' : '—'}</span>`;
}

/** The questions of a first mapping that are still open. */
function ToDecide() {
	const list = state.value?.mapping.questions || [];
	return list.length > 0 && html`<section class="to-decide"><h2>${count(list.length, 'question')} to decide</h2>
		<${Questions} list=${list} links=${true} /></section>`;
}

/** What can be done with the whole activity that a target belongs to. @param {{target: Target}} props */
function Entry({ target: t }) {
	const [, list, entry] = /^\/(activities|claims)\/(\d+)\//.exec(t.path) || [];
	const its = (state.value?.targets || []).filter((x) => x.path.startsWith(`/${list}/${entry}/`));
	if (!list || (list === 'claims' && its.every(isUnfilled))) return null; // the first claim is offered before the mapping has it
	const n = Number(entry);
	const isLast = !state.value?.targets.some((x) => x.path.startsWith(`/${list}/${n + 1}/`));
	const { show } = route.value.query;
	const move = async (/** @type {number} */ to) => {
		const path = t.path.replace(/\d+/, String(to));
		if (await takeIn() && await patch(`${t.of} ${to < n ? 'earlier' : 'later'}`, [{ op: 'move', from: `/${list}/${n}`, path: `/${list}/${to}` }])) stay('targets', { at: path, show });
	};
	const remove = async () => {
		if (await takeIn() && await patch(`${t.of} taken away`, [{ op: 'remove', path: `/${list}/${n}` }])) stay('targets', { show }); // the next one is not meant
	};
	return html`<section class="entry"><h3>${t.of} as a whole</h3><div class="actions">
		${list === 'activities' && html`<${Act} off=${n === 0} onAct=${() => move(n - 1)}>Send it earlier<//>
			<${Act} off=${isLast} onAct=${() => move(n + 1)}>Send it later<//>`}
		<${Act} onAct=${remove}>Do not send it<//></div>
			</section>`;
}

/** @param {{target: Target, onClose: () => void}} props */
function TargetPanel({ target: t, onClose }) {
	const offered = suggestions.value.filter((s) => s.path === t.path);
	return html`<${Panel} about=${t.path} title=${t.title}
		of=${[t.of, typeName(t.type), t.on && t.on !== 'client' ? `for each ${t.on}` : '', t.required ? 'required' : ''].filter(Boolean).join(' · ')}
		onClose=${onClose}>
		<${Reasons} list=${offered} from=${true} />
		<${RuleEditor} key=${t.path} target=${t} />
		<${Entry} key=${t.path} target=${t} />
	<//>`;
}

