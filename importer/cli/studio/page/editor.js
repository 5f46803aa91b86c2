// @ts-check
// The editor of one rule: how the value is made, how the cell is read, what comes out of it, and what to do with cells that have errors.
// A change is a draft with a live result until it is used.

import { ApiError } from './api.js';
import { ColumnPicker, Condition, Field, Formula, OrderedColumns, Radios, TextFromColumns, textsOf } from './fields.js';
import { Fixes, Preview, useCells } from './fix.js';
import { html, useRef, useState } from './lib.js';
import { takeIn, usePending } from './pending.js';
import { Reading, Sent } from './reading.js';
import { link } from './route.js';
import { changes, describe, editorOf, members, nameOf, numberForms, same, sourceOf, sources, withMember, withSource } from './rule.js';
import { current, patch, targetAt, targetNear } from './store.js';
import { Questions } from './suggestions.js';
import { Act, Clients, Problems, Verdict, Waiting } from './ui.js';
import { choicesOf, choiceWords, count } from './words.js';

/** @typedef {import('./types.js').Rule} Rule */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {{target: Target, draft: any, onDraft: (draft: Rule, isLook?: boolean) => void}} Fields isLook marks a draft that is no change yet */

/** @param {{target: Target}} props */
export function RuleEditor({ target }) {
	// What is typed stays when the rule changes meanwhile.
	const [kept, keep] = useState(/** @type {{from: Rule, draft: Rule, isLook: boolean}|null} */ (null));
	const draft = kept ? kept.draft : target.rule, from = kept ? kept.from : target.rule;
	const cells = useCells(target), kind = editorOf(target), Body = bodies[kind];
	const isChanged = !same(draft, target.rule), isComplete = saysEnough(draft);
	const isTaken = kind !== 'value' && isNothing(draft) && !target.required; // a field that was emptied
	const isUsable = isChanged && (isComplete || isTaken);
	const takenAway = `${nameOf(target)} taken away`;
	const use = async () => {
		if (!isUsable) return true;
		const label = `${nameOf(target)} ← ${describe({ ...target, rule: draft }).replace(/^only when /, '')}`.slice(0, 120);
		const done = await patch(isTaken ? takenAway : label, () => {
			const now = stillThere(target);
			return isTaken ? [{ op: 'remove', path: now.path }] : changes(now, draft, from);
		});
		if (done) keep((now) => (!now || same(now.draft, draft) ? null : { ...now, from: draft })); // what was typed since stays a draft
		return done;
	};
	usePending(isChanged && isComplete && !kept?.isLook, use);
	const { mapping } = current();
	const mistakes = mapping.problems.filter((p) => targetNear(p.path) === target.path);
	const isShown = useRef(false); // what comes late would push the fields away
	isShown.current ||= Boolean(cells.answer) || !(cells.loading || cells.error);
	if (!isShown.current) return html`<${Waiting} of=${cells} what="the cells" />`;
	return html`<form class="editor" onSubmit=${(e) => { e.preventDefault(); use(); }}
		onKeyDown=${(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); takeIn(); } }}>
		<div class="said-of" aria-live="assertive"><${Problems} list=${mistakes} kind="mistake" here=${true} /></div>
		<${Problems} list=${mapping.warnings.filter((p) => targetNear(p.path) === target.path)} kind="warning" here=${true} />
		<${Questions} list=${mapping.questions.filter((q) => q.path === target.path || q.path.startsWith(target.path + '/'))} />
		${target.usable + target.errors > 0 && html`<${Verdict} ...${target} />`}
		${kind === 'value' && html`<div hidden=${isChanged}><${Fixes} target=${target} cells=${cells.answer} /></div>`}
		<${Body} target=${target} draft=${draft} onDraft=${(/** @type {Rule} */ next, isLook = false) => keep({ from, draft: next, isLook })} />
		${kept && isChanged && !same(kept.from, target.rule) && html`<p class="notice warn" role="alert">This was changed meanwhile to: ${
			describe(target) || 'nothing'}. What you see here is yours.</p>`}
		<div class="actions">
			<button type="submit" class="main" aria-disabled=${isUsable ? undefined : 'true'}>Use this</button>
			${isChanged ? html`<button type="button" onClick=${() => keep(null)}>Put back</button>`
				: target.rule !== null && html`<${Act} kind="quiet"
					onAct=${() => patch(takenAway, [{ op: 'remove', path: target.path }])}>Take away<//>`}
			${target.line && html`<a href=${link('file', { line: target.line })}>Line ${target.line} of the file</a>`}
		</div>
		${['value', 'condition', 'text'].includes(kind) && isComplete && html`<${Preview} target=${target} rule=${draft} />`}
	</form>`;
}

/** The target as it is now; when it is not there any more, nothing can be changed. @param {Target} target */
function stillThere(target) {
	const now = targetAt(target.path);
	if (now && nameOf(now) === nameOf(target)) return now;
	throw new ApiError(409, { message: `${nameOf(target)} is not there any more`, hint: 'Changes shows what happened, and leads back' });
}

/** Reports whether nothing is left of a rule. @param {any} rule */
const isNothing = (rule) => rule === null || rule === undefined || rule === '' || (Array.isArray(rule) && !rule.length);

/** Reports whether a rule says enough to be used. @param {any} rule */
function saysEnough(rule) {
	const way = sources.find(([name]) => Object.hasOwn(Object(rule), name))?.[0];
	return !isNothing(way ? rule[way] : rule);
}

/** What draws each kind of rule. @type {Record<ReturnType<typeof editorOf>, (fields: Fields) => any>} */
const bodies = {
	value: ({ target, draft, onDraft }) => {
		const before = useRef({}); // what each way had, so that looking at another one loses nothing
		const pick = (name) => {
			before.current = { ...members(target.rule), ...before.current, ...members(draft) };
			onDraft(withSource(draft, name, before.current), true);
		};
		return html`<${Radios} legend="Made from" kind="ways" value=${sourceOf(draft)} options=${sources} onPick=${pick} />
		<${Source} key=${sourceOf(draft)} target=${target} draft=${draft} onDraft=${onDraft} />
		<${Allowed} list=${target.options || []} />
		<${Reading} target=${target} draft=${draft} onDraft=${onDraft} />`;
	},
	columns: ({ target, draft, onDraft }) => html`
		<${OrderedColumns} label="Rows belong together when these columns say the same" list=${[draft ?? []].flat()}
			onList=${(list) => onDraft(list.length === 1 ? list[0] : list)} />
		${target.path === '/client/key' && html`<p role="status"><${Clients} /></p>`}`,
	column: ({ draft, onDraft }) => html`<${ColumnPicker} value=${String(draft ?? '')} onPick=${onDraft} />`,
	condition: Condition,
	text: ({ draft, onDraft }) => { // it may also be {text, values}
		const isObject = typeof draft === 'object' && draft !== null;
		return html`<${TextFromColumns} text=${String((isObject ? draft.text : draft) ?? '')}
			onText=${(text) => onDraft(isObject ? { ...draft, text } : text)} />`;
	},
	list: ({ draft, onDraft }) => html`<${Field} label="Texts, one in each line" lines=${4} value=${[draft || []].flat().join('\n')}
		onValue=${(text) => onDraft(textsOf(text))} />`,
	numbers: ({ draft, onDraft }) => {
		const forms = numberForms.map(([example, form]) => [JSON.stringify(form), example]), now = JSON.stringify(draft);
		const other = forms.some(([form]) => form === now) ? [] : [[now, draft === null ? '' : now]];
		return html`<${Field} label="Numbers in texts look like" value=${now} options=${[...other, ...forms]}
			onValue=${(form) => onDraft(JSON.parse(form))} />`;
	},
	resume: ({ target, draft, onDraft }) => { // at one activity, or as a column says
		const isByColumn = typeof draft === 'object' && draft !== null;
		const names = new Set(current().targets.filter((t) => /^\/activities\/\d+\//.test(t.path)).map((t) => t.of || ''));
		return html`<${Field} label=${target.title} value=${isByColumn ? '{}' : draft ?? ''}
			options=${[['', 'the first open one'], ...[...names].map((name) => [name, name]), ['{}', 'as a column says']]}
			onValue=${(name) => onDraft(name === '{}' ? { column: '' } : name || null)} />
			${isByColumn && html`<${ColumnPicker} value=${String(draft.column)} onPick=${(to) => onDraft({ column: to })} />`}`;
	},
	choice: ({ target, draft, onDraft }) => html`<${Radios} legend=${target.title} kind="choices" value=${draft} onPick=${onDraft}
		options=${choicesOf(target).map((name) => {
			const [words, does] = choiceWords(target, name), isPlain = words.toLowerCase().includes(name.toLowerCase());
			return [name, html`${words}${!isPlain && html` <span class="code faint" title="This word stands in the file">${name}</span>`}`, does];
		})} />`,
	plain: ({ target, draft, onDraft }) => html`<${Field} label=${target.title} value=${String(draft ?? '')}
		offers=${target.path === '/sheet/timezone' ? Intl.supportedValuesOf('timeZone') : []}
		onValue=${(text) => onDraft(text || null)} />`,
};

/** What a value is made from. @param {Fields} props */
function Source({ target, draft, onDraft }) {
	const all = members(draft);
	const set = (name) => (to) => onDraft(withMember(draft, name, to));
	switch (sourceOf(draft)) {
		case 'value': return html`<${Sent} target=${target} type=${target.type} label="Value for everyone" value=${all.value} onSent=${set('value')} />`;
		case 'text': return html`<${TextFromColumns} text=${all.text || ''} onText=${set('text')} />`;
		case 'expr': return html`<${Formula} text=${all.expr || ''} onText=${set('expr')} />`;
		case 'first_of': return html`<${OrderedColumns} label="Columns, the first filled one is taken" list=${[all.first_of || []].flat()}
			onList=${set('first_of')} />`;
		case 'join': return html`<${OrderedColumns} label="Columns, what is empty is left out" list=${[all.join || []].flat()} onList=${set('join')} />
			<${Field} label="Between them" value=${all.with ?? ', '} onValue=${set('with')} />`;
		default: return html`<${ColumnPicker} value=${String(all.column ?? '')} onPick=${set('column')} />`;
	}
}

/** What the service takes for a target, when it says so. @param {{list: string[]}} props */
const Allowed = ({ list }) => list.length > 0 && html`<p class="faint allowed">The service takes: ${
	list.slice(0, 20).map((o) => `“${o}”`).join(', ')}${list.length > 20 && `, and ${count(list.length - 20, 'more text')}`}.</p>`;
