// @ts-check
// The mirror of the columns: everything that the service can get, in the order in which it is sent.

import { RuleEditor } from './editor.js';
import { html } from './lib.js';
import { route, stay } from './route.js';
import { describe, members } from './rule.js';
import { current, patch, takeIn, targetAt } from './store.js';
import { Questions, Reasons, Suggested } from './suggestions.js';
import { Act, arrows, Chip, Clients, listOf, Panel, Verdict, View } from './ui.js';
import { count, typeName } from './words.js';

/** @typedef {import('./types.js').Target} Target */

/** @param {Target} t */
const isUnfilled = (t) => t.rule === null;
/** @param {Target} t */
const isMissing = (t) => isUnfilled(t) && t.required;

/** @type {[string, string, (t: Target) => boolean][]} */
const filters = [
	['all', 'All', () => true],
	['missing', 'Required and unfilled', isMissing],
	['unfilled', 'Unfilled', isUnfilled],
	['errors', 'With errors', (t) => t.errors > 0],
	['confirm', 'To confirm', (t) => isUnfilled(t) && current().suggestions.some((s) => s.path === t.path && !s.sure)],
];

export function Targets() {
	const { targets, mapping: { questions } } = current();
	const list = listOf('targets', targets, filters), chosen = targetAt(list.at);
	return html`<${View} title="Fields of the service" tools=${html`${list.filter}<p class="faint keys-helper"><${Clients} /></p>`}
		details=${chosen && html`<${TargetPanel} target=${chosen} onClose=${list.close} />`}>
		<div class="scroll" onKeyDown=${arrows('th a')}>
			${questions.length > 0 && html`<section class="to-decide"><h2>${count(questions.length, 'question')} to decide</h2>
				<${Questions} list=${questions} links=${true} /></section>`}
			${sections(list.shown).map(([title, its]) => html`<table key=${title} class=${'rows targets' + (title === missing ? ' missing' : '')}>
				<caption>${title} ${title !== missing && its[0].about && html`<${Chip}>${its[0].about}<//>`}</caption>
				<thead class="hidden"><tr>${['What', 'Type', 'Filled by', 'Over all rows'].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
				<tbody>${its.map((t) => html`<tr key=${t.path} data-path=${t.path} class=${t === chosen ? 'chosen' : ''} onClick=${list.open(t.path)}>
					<th scope="row"><a href=${list.address(t.path)} aria-current=${t === chosen ? 'true' : undefined}>${
						title === missing ? t.name : t.title}</a>${t.required && !isMissing(t) && html` <span class="required">required</span>`}</th>
					<td class="type"><${Type} target=${t} /></td>
					<td class="goes"><${FilledBy} target=${t} /></td>
					<td class="over"><${Verdict} ...${t} /></td>
				</tr>`)}</tbody>
			</table>`)}
			${!list.shown.length && html`<p class="nothing">${list.show === 'missing' ? 'Everything that the service requires is filled.'
				: targets.length ? 'Nothing here.' : 'The file cannot be read as it is; fix it first.'}</p>`}
		</div>
	<//>`;
}

const missing = 'Required and unfilled';

/** The targets by their sections; required and unfilled ones are one of their own, the first.
 * @param {Target[]} targets @returns {[string, Target[]][]} */
const sections = (targets) => [...Map.groupBy(targets.toSorted((a, b) => Number(isMissing(b)) - Number(isMissing(a))),
	(t) => (isMissing(t) ? missing : t.section))];

/** The type; where the mapping says another one than the service or custom, it is the person's choice. @param {{target: Target}} props */
function Type({ target: t }) {
	const { type } = members(t.rule);
	const isOwn = type && t.typeFrom !== 'default' && (t.typeFrom === 'mapping' || type !== t.type);
	return html`${typeName(isOwn ? type : t.type)}${isOwn && html` <${Chip}>your choice<//>`}`;
}

/** @param {{target: Target}} props */
function FilledBy({ target: t }) {
	if (!isUnfilled(t)) return html`${t.columns.map((letter) => html`<span class="code letter">${letter}</span> `)}${describe(t)}`;
	const suggestion = current().suggestions.find((s) => s.path === t.path);
	if (suggestion) return html`<${Suggested} suggestion=${suggestion} from=${true} />`;
	return html`<span class="faint">${t.isOpen ? 'the client fills it in' : t.required ? 'nothing yet' : '—'}</span>`;
}

/** @param {{target: Target, onClose: () => void}} props */
const TargetPanel = ({ target: t, onClose }) => html`<${Panel} about=${t.path} title=${t.title} onClose=${onClose}
	of=${[t.section, typeName(t.type), t.about, t.required && 'required'].filter(Boolean).join(' · ')}>
	<${Reasons} list=${current().suggestions.filter((s) => s.path === t.path)} from=${true} />
	<${RuleEditor} key=${t.path} target=${t} />
	<${Entry} target=${t} />
<//>`;

/** What can be done with the whole activity or claim that a target belongs to. @param {{target: Target}} props */
function Entry({ target: t }) {
	const [path, list, entry] = /^\/(activities|claims)\/(\d+)/.exec(t.path) || [];
	const its = current().targets.filter((x) => x.path.startsWith(path + '/'));
	if (!path || (path.startsWith('/claims') && its.every(isUnfilled))) return null; // the first claim is offered before the mapping has it
	const n = Number(entry), isLast = !current().targets.some((x) => x.path.startsWith(`/${list}/${n + 1}/`));
	/** at is where the target is afterwards; the next one, which may take its place, is not meant */
	const change = async (/** @type {string} */ label, /** @type {import('./types.js').Operation} */ operation, at = '') => {
		if (await takeIn() && await patch(label, [operation])) stay('targets', { at, show: route.value.query.show });
	};
	const move = (/** @type {number} */ to) => change(`${t.section} ${to < n ? 'earlier' : 'later'}`,
		{ op: 'move', from: path, path: `/${list}/${to}` }, t.path.replace(/\d+/, String(to)));
	return html`<section class="entry"><h3>${t.section} as a whole</h3><div class="actions">
		${list === 'activities' && html`<${Act} off=${n === 0} onAct=${() => move(n - 1)}>Send it earlier<//>
			<${Act} off=${isLast} onAct=${() => move(n + 1)}>Send it later<//>`}
		<${Act} onAct=${() => change(`${t.section} taken away`, { op: 'remove', path })}>Do not send it<//></div></section>`;
}
