// @ts-check
// Talks to the server. Every answer is JSON; every refusal becomes an ApiError with words for a person.

/** A refusal of the server, or no answer from it. */
export class ApiError extends Error {
	/**
	 * @param {number} status the HTTP status, 0 when nothing answered
	 * @param {{code?: string, message?: string, hint?: string}} error
	 * @param {import('./types.js').State} [state] the present state, when the request was made for an older version
	 */
	constructor(status, error, state) {
		super(error.message || `the server answered ${status}`);
		this.status = status;
		this.code = error.code || '';
		this.hint = error.hint || '';
		this.state = state;
	}
}

/**
 * Asks for something. Returns null when the server has nothing new (204).
 * @param {string} path below /api/
 * @param {Record<string, string|number|undefined>} [query] undefined members are left out
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function get(path, query = {}, signal) {
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
	const tail = search.toString();
	return ask('/api/' + path + (tail && '?' + tail), { signal });
}

/**
 * Sends something.
 * @param {string} path below /api/
 * @param {object} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export function post(path, body, signal) {
	return ask('/api/' + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal });
}

/**
 * @param {string} url
 * @param {RequestInit} request
 */
async function ask(url, request) {
	let response, body;
	try {
		response = await fetch(url, request);
		body = response.status === 204 ? null : await response.json(); // an answer that breaks off is none
	} catch (cause) {
		if (request.signal?.aborted) throw cause;
		throw new ApiError(0, { code: 'away', message: 'Claimsheet does not answer.', hint: 'Look at the terminal in which you started it; start it again if it has ended.' });
	}
	if (!response.ok) throw new ApiError(response.status, body.error || {}, body.state);
	return body;
}
