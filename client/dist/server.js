import { AuthError } from "./client.js";
import { EmbeddedJWK, base64url, calculateJwkThumbprint, createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";

// src/host.ts
const browser = () => globalThis.document && globalThis;
const sleep = (milliseconds, isIdle) => new Promise((resolve) => {
	const timer = setTimeout(resolve, milliseconds);
	if (isIdle) timer.unref?.();
});
const ignore = () => void 0;

// src/kept-form.ts
const [MAX_BYTES, MAX_FIELDS] = [5e5, 1e3];
const TEXTS = {
	en: {
		title: "Not sent yet",
		kept: "Your log-in had expired, so nothing was done yet. What you have typed is kept here. If it is not sent by itself, log in in a new tab, come back, and send it again.",
		lost: "Your log-in had expired, so nothing was done, and this form is too large to be kept. Log in in a new tab, then go back to the form and send it again.",
		logIn: "Log in in a new tab",
		send: "Send again"
	},
	de: {
		title: "Noch nicht gesendet",
		kept: "Ihre Anmeldung war abgelaufen, deshalb ist noch nichts geschehen. Was Sie eingegeben haben, ist hier aufgehoben. Wenn es nicht von selbst gesendet wird, melden Sie sich in einem neuen Tab an, kommen Sie zurück, und senden Sie es noch einmal.",
		lost: "Ihre Anmeldung war abgelaufen, deshalb ist nichts geschehen, und dieses Formular ist zu groß, um aufgehoben zu werden. Melden Sie sich in einem neuen Tab an, gehen Sie dann zurück zum Formular, und senden Sie es noch einmal.",
		logIn: "In einem neuen Tab anmelden",
		send: "Noch einmal senden"
	}
};
const escapeHtml = (text) => text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
const isOwnForm = ({ method, headers }) => method === "POST" && headers.get("Sec-Fetch-Site") === "same-origin" && headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
const fieldsOf = async (request) => {
	const { headers, bodyUsed } = request;
	const isUrlencoded = /^application\/x-www-form-urlencoded\b/i.test(headers.get("Content-Type") ?? "");
	const length = headers.get("Content-Length");
	if (bodyUsed || !isUrlencoded || !length || Number(length) > MAX_BYTES) return null;
	const fields = [...new URLSearchParams(await request.text())];
	return fields.length > MAX_FIELDS ? null : fields;
};
const keptForm = async (request, { base, action, to, byScript }) => {
	const language = /^de\b/i.test(request.headers.get("Accept-Language") ?? "") ? "de" : "en";
	const { title, kept, lost, logIn, send } = TEXTS[language];
	const hiddenInputs = (await fieldsOf(request))?.map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`);
	const form = hiddenInputs && `<form method="post" action="${escapeHtml(action)}" data-again>\n${hiddenInputs.join("\n")}\n<button>${send}</button></form>`;
	const { origin } = new URL(base);
	return {
		html: `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
<p role="status" data-to>${form ? kept : lost}</p>
<p><a href="${escapeHtml(`${base}/auth/continue?to=${encodeURIComponent(to)}`)}" target="_blank">${logIn}</a></p>
${form ?? ""}${form && byScript ? `\n<script type="module" src="${base}/continue-page.js"><\/script>` : ""}
</html>`,
		headers: {
			"Content-Type": "text/html; charset=utf-8",
			"Content-Security-Policy": `default-src 'none'; script-src ${origin}; connect-src ${origin}; frame-src ${origin}; base-uri 'none'; frame-ancestors 'none'`
		}
	};
};

// src/response.ts
const bodyOf = async (response) => await response.json().catch(ignore) ?? {};
const dataOf = async (response) => {
	const { status, headers } = response;
	const { success, data, code = "CLIENT_RESPONSE_INVALID", message, details, context } = await bodyOf(response);
	if (success) return data;
	throw new AuthError(code, message ?? `Bad response: ${status}`, {
		retryable: code === "DB_QUERY_FAILED" || status === 429 || status > 501,
		retryAfter: Number(headers.get("Retry-After")) || null,
		fields: code === "AUTH_USER_DUPLICATE" ? takenField(message) : (details ?? []).map(withLimit),
		requestId: context?.requestId ?? null
	});
};
const takenField = (message = "") => {
	const field = /^This (username|email) is/.exec(message)?.[1];
	return field ? [{
		field,
		message,
		code: "taken"
	}] : [];
};
const LIMITS = {
	too_short: "min",
	too_small: "min",
	too_long: "max",
	too_large: "max"
};
const withLimit = (detail) => {
	const name = LIMITS[detail.code];
	return name ? {
		...detail,
		[name]: Number.parseInt(detail.message.replace(/\D+/, ""), 10)
	} : detail;
};
const baseOf = (baseUrl) => {
	if (!/^https?:\/\//i.test(baseUrl)) throw new TypeError(`No http:// or https:// in baseUrl: ${baseUrl}`);
	return new URL(baseUrl).href.replace(/\/+$/, "");
};

// src/there-and-back.ts
const MARK$1 = /[?&](?:(?:tandem_code=([\w.-]+)?&)?tandem=(logged-(?:in|out)|%2F[\w%-]*)|error=[A-Z_]+)(?=#|$)/;
const returnUrl = ({ to } = {}, here = browser()?.location.href) => (to ?? here) && new URL(to ?? here, here).href.replace(MARK$1, "");
const returnUrlAfterLogin = (options, here) => {
	const back = returnUrl(options, here);
	if (!back || !browser()) return back;
	const url = new URL(back);
	url.search += `${url.search ? "&" : "?"}tandem_code=`;
	return url.href;
};
const userPage = (base, page, options, here) => {
	const back = (/^(log-in|reg)/.test(page) ? returnUrlAfterLogin : returnUrl)(options, here);
	return `${base}/auth/${page}${back ? `?to=${encodeURIComponent(back)}` : ""}`;
};

// src/proof.ts
const TOLERANCE$1 = 60;
const isProven = async ({ headers, method }, url, { token, jkt }) => {
	try {
		const { payload, protectedHeader } = await jwtVerify(headers.get("DPoP") ?? "", EmbeddedJWK, {
			algorithms: ["ES256"],
			typ: "dpop+jwt",
			requiredClaims: ["iat", "jti"]
		});
		const { htm, htu, ath, iat = 0 } = payload;
		const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
		return htm === method && new URL(String(htu)).href === url && ath === base64url.encode(digest) && Math.abs(Date.now() / 1e3 - iat) <= TOLERANCE$1 && await calculateJwkThumbprint(protectedHeader.jwk ?? {}) === jkt;
	} catch {
		return false;
	}
};

// src/visitors.ts
const [TIMEOUT, KEYS_AGE, MARGIN] = [
	5e3,
	3e5,
	1e4
];
const WITHOUT_KEYS = [
	"ERR_JOSE_GENERIC",
	"ERR_JWKS_TIMEOUT",
	"ERR_JWKS_INVALID"
];
const CREDENTIALS = /^(Bearer|DPoP) +(\S+)$/i;
const PROOF_CHALLENGE = "DPoP error=\"invalid_dpop_proof\", algs=\"ES256\"";
const nobody = (why, isNobody = false, challenge = "Bearer") => ({
	user: null,
	token: "",
	due: 0,
	isNobody,
	why,
	challenge
});
const cookiesOf = ({ headers }, name) => (headers.get("Cookie")?.split(/; */) ?? []).filter((each) => each.startsWith(`${name}=`)).slice(0, 8);
const visitors = (base, options) => {
	const { issuer, audience, pageServer, fetch: send = fetch } = options;
	const cookieName = options.cookieName ?? (base.startsWith("https:") ? "__Host-access_token" : "access_token");
	const keySet = `${base}/.well-known/jwks.json`;
	const keys = createRemoteJWKSet(new URL(keySet), {
		cacheMaxAge: KEYS_AGE,
		[customFetch]: send
	});
	const rules = {
		algorithms: ["ES256"],
		typ: "JWT",
		issuer,
		audience,
		requiredClaims: [
			"sub",
			"iat",
			"exp",
			"jti",
			"user"
		]
	};
	const noAnswer = (url, cause) => new AuthError("CLIENT_NETWORK_FAILED", `No response: ${url}`, {
		cause,
		retryable: true
	});
	const addressOf = ({ url }) => {
		if (!options.origin) throw new AuthError("CLIENT_TARGET_REFUSED", "Set origin: a proof is for this server alone.");
		return new URL(options.origin).origin + new URL(url).pathname;
	};
	const verify = async (token, prover) => {
		const deny = (why, challenge) => nobody(`The access token is not valid: ${why}.`, false, challenge);
		if (token.length > 4096) return deny("too long");
		try {
			const { payload, protectedHeader } = await jwtVerify(token, keys, rules);
			const { iat = 0, exp = 0, tokenType, user, sub = "", cnf } = payload;
			if (options.endedSessions?.isEnded({
				sid: protectedHeader.sid,
				sub,
				iat
			})) return deny("its session has ended");
			if (!(prover ? await isProven(prover, addressOf(prover), {
				token,
				jkt: cnf?.jkt
			}) : cnf === void 0)) return deny("no proof of the key to which it is bound", PROOF_CHALLENGE);
			const due = exp * 1e3 - Math.min(MARGIN, (exp - iat) * 200);
			return tokenType === "access" ? {
				...nobody(""),
				user,
				token,
				due
			} : deny("its tokenType");
		} catch (error) {
			if (error instanceof errors.JOSEError && !WITHOUT_KEYS.includes(error.code)) return deny(error.message);
			throw error instanceof AuthError ? error : noAnswer(keySet, error);
		}
	};
	const askService = async (Cookie, headers) => {
		const [url, signal] = [`${base}/auth/access-token`, AbortSignal.timeout(TIMEOUT)];
		const init = {
			method: "POST",
			headers: {
				...headers,
				Cookie
			},
			redirect: "error",
			signal
		};
		try {
			const response = await send(url, init).catch((cause) => Promise.reject(noAnswer(url, cause)));
			return await verify((await dataOf(response)).accessToken);
		} catch (error) {
			const { code, message: why } = error;
			if (code !== "AUTH_FAILED" && code !== "AUTH_DEVICE_UNPROVEN") throw error;
			return nobody(why, code === "AUTH_FAILED");
		}
	};
	const identify = async (request) => {
		const [, scheme = "", token] = CREDENTIALS.exec(request.headers.get("Authorization") ?? "") ?? [];
		const isDpop = /^dpop$/i.test(scheme);
		const caller = token ? await verify(token, isDpop ? request : void 0) : null;
		if (caller?.user || caller && isDpop) return caller;
		let visitor = null;
		for (const each of cookiesOf(request, cookieName)) if (!visitor?.user) visitor = await verify(each.slice(cookieName.length + 1));
		const refreshTokens = [
			"__Host-Http-",
			"__Http-",
			""
		].flatMap((prefix) => cookiesOf(request, `${prefix}refresh_token`));
		if (!visitor?.user && pageServer && refreshTokens.length > 0) return askService(refreshTokens.join("; "), {
			Authorization: `Basic ${btoa(`${pageServer.id}:${pageServer.secret}`)}`,
			"X-Visitor-Address": pageServer.visitorAddress(request)
		});
		return visitor ?? caller ?? nobody(`No cookie ${cookieName} has arrived.`, !!pageServer);
	};
	const cache = /* @__PURE__ */ new WeakMap();
	return (request) => {
		if (!cache.has(request)) cache.set(request, identify(request));
		return cache.get(request);
	};
};

// src/ended-sessions.ts
const [TOLERANCE, MAX_AGE] = [5, 120];
const MAX_LIST_LENGTH = 8 * 2 ** 20;
const textOf = async ({ body }) => {
	const [reader, decoder] = [body?.getReader(), new TextDecoder()];
	let text = "";
	for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
		text += decoder.decode(part.value, { stream: true });
		if (text.length <= MAX_LIST_LENGTH) continue;
		await reader?.cancel();
		throw new Error("The list is too long.");
	}
	return text;
};
const knownEndings = () => {
	const [sessions, users] = [/* @__PURE__ */ new Map(), /* @__PURE__ */ new Map()];
	let before = Number.NEGATIVE_INFINITY;
	return {
		add: (list) => {
			before = Math.max(before, list.before ?? before);
			for (const { sid, event_timestamp } of list.sessions) sessions.set(sid, event_timestamp);
			for (const { sub, event_timestamp } of list.users) users.set(sub, Math.max(users.get(sub) ?? 0, event_timestamp));
			const past = Math.max(before, list.iat - list.lifetime - 2 * TOLERANCE);
			for (const each of [sessions, users]) for (const [id, at] of each) if (at < past) each.delete(id);
		},
		has: ({ sid, sub, iat }) => sessions.has(sid) || !(iat > Math.max(before, users.get(sub) ?? before))
	};
};
const followEndedSessions = (options) => {
	const { issuer, whenStale = "stale-ok", staleAfter = 60, onError, fetch: send = fetch } = options;
	const base = baseOf(options.baseUrl);
	const waitSeconds = Math.min(20, Math.max(1, Math.floor(staleAfter / 3)));
	const url = `${base}/.well-known/ended-sessions?wait=${waitSeconds}`;
	const keys = createRemoteJWKSet(new URL(`${base}/.well-known/jwks.json`), { [customFetch]: send });
	const rules = {
		algorithms: ["ES256"],
		typ: "ended-sessions+jwt",
		issuer,
		audience: "ended-sessions",
		requiredClaims: [
			"lifetime",
			"sessions",
			"users"
		],
		maxTokenAge: MAX_AGE,
		clockTolerance: TOLERANCE
	};
	const endings = knownEndings();
	const stop = new AbortController();
	let [readAt, etag] = [Number.NEGATIVE_INFINITY, ""];
	const read = async () => {
		const signal = AbortSignal.any([stop.signal, AbortSignal.timeout((waitSeconds + 10) * 1e3)]);
		const response = await send(url, {
			headers: etag ? { "If-None-Match": etag } : {},
			redirect: "error",
			signal
		});
		if (response.status === 200) {
			endings.add((await jwtVerify(await textOf(response), keys, rules)).payload);
			etag = response.headers.get("ETag") ?? "";
		} else {
			await response.body?.cancel();
			const retryAfter = Number(response.headers.get("Retry-After")) || null;
			if (response.status !== 304) throw Object.assign(/* @__PURE__ */ new Error(`The status is ${response.status}.`), { retryAfter });
		}
		readAt = performance.now();
	};
	const follow = async () => {
		for (let failures = 0; !stop.signal.aborted;) {
			let retryAfter = 0;
			try {
				await read();
				failures = 0;
			} catch (cause) {
				if (stop.signal.aborted) return;
				failures = Math.min(failures + 1, 4);
				retryAfter = Math.min(60, cause.retryAfter ?? 0);
				const message = `The ended sessions can't be read: ${cause.message}`;
				onError?.(new AuthError("CLIENT_NETWORK_FAILED", message, {
					cause,
					retryable: true
				}));
			}
			await sleep(Math.max(retryAfter * 1e3, 500 * 2 ** failures) * (.75 + Math.random() / 2), true);
		}
	};
	follow();
	return {
		isEnded: (token) => {
			if (whenStale === "refuse" && performance.now() - readAt > staleAfter * 1e3) throw new AuthError("CLIENT_NETWORK_FAILED", `No answer for ${staleAfter} seconds: ${url}`, { retryable: true });
			return endings.has(token);
		},
		close: () => stop.abort()
	};
};

// src/server.ts
const [MAX_TRIES, PAUSE] = [4, 300];
const MARK = /[?&]tandem-continued=(\d)\.(\d{1,12})(?=(?:&tandem=logged-(?:in|out))?$)/;
const ADVICE = "Set ACCESS_COOKIE=true at the service. Its BASE_URL, JWT_ISSUER and JWT_AUDIENCE have to be baseUrl, issuer and audience here. If this host is not that of BASE_URL, set ACCESS_COOKIE_DOMAIN there and cookieName here.";
const triesOf = (mark, now) => mark && Math.abs(now - Number(mark[2])) < 60 ? Number(mark[1]) : 0;
const isDocument = ({ method, headers }) => /^(GET|HEAD)$/.test(method) && headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
const answer = (status, text, headers = {}) => new Response(text, {
	status,
	headers: {
		"Content-Type": "text/plain",
		"Cache-Control": "no-store",
		...headers
	}
});
const seeOther = (Location) => answer(303, null, { Location });
const withQuery = (url, member) => url + (url.includes("?") ? "&" : "?") + member;
const createServerAuth = (options) => {
	const base = baseOf(options.baseUrl);
	const publicOrigin = options.origin && new URL(options.origin).origin;
	const targets = [base, ...options.origins ?? []].map((url) => new URL(url).origin);
	const visitorOf = visitors(base, options);
	const sendToService = async (page, mark, why) => {
		const now = Math.floor(Date.now() / 1e3);
		const tries = triesOf(mark, now);
		if (tries >= MAX_TRIES) return answer(500, `${why} ${ADVICE}`);
		await sleep(tries * PAUSE);
		const to = withQuery(page, `tandem-continued=${tries + 1}.${now}`);
		return seeOther(`${base}/auth/continue?to=${encodeURIComponent(to)}`);
	};
	const addressOf = ({ url }) => {
		const { origin, pathname, search } = new URL(url);
		return (publicOrigin ?? origin) + pathname + search.replace(MARK, "").replace(/^&/, "?");
	};
	const answerForm = async (request) => {
		const [page, now] = [addressOf(request), Math.floor(Date.now() / 1e3)];
		const from = request.headers.get("Referer") ?? "";
		const { html, headers } = await keptForm(request, {
			base,
			action: withQuery(page, `tandem-continued=1.${now}`),
			to: from.startsWith(`${new URL(page).origin}/`) ? from : page,
			byScript: !triesOf(MARK.exec(new URL(request.url).search), now)
		});
		return answer(401, html, {
			...headers,
			"WWW-Authenticate": "Bearer"
		});
	};
	return {
		linkTo: (page, request, options) => userPage(base, page, options, addressOf(request)),
		getUser: async (request) => (await visitorOf(request)).user,
		requireUser: async (request, { loginPage } = {}) => {
			const visitor = await visitorOf(request).catch((error) => error);
			if (visitor instanceof Error && !visitor.retryable) throw visitor;
			if (visitor instanceof Error) return answer(503, "The service does not answer.", { "Retry-After": `${visitor.retryAfter ?? 5}` });
			if (!visitor.user && isOwnForm(request)) return answerForm(request);
			if (!isDocument(request)) return visitor.user ?? answer(401, "Load the page again, or log in.", { "WWW-Authenticate": visitor.challenge });
			const mark = MARK.exec(new URL(request.url).search);
			const page = addressOf(request);
			const isFresh = Date.now() < visitor.due;
			if (visitor.user && (isFresh || mark)) return isFresh && mark ? seeOther(page) : visitor.user;
			if (visitor.user || !loginPage || !visitor.isNobody) return sendToService(page, mark, visitor.why);
			return seeOther(withQuery(new URL(loginPage, page).href, `to=${encodeURIComponent(page)}`));
		},
		signedInFetch: async (request, input, init) => {
			const outgoing = new Request(input, {
				...init,
				redirect: init?.redirect === "manual" ? "manual" : "error"
			});
			const { origin } = new URL(outgoing.url);
			if (!targets.includes(origin)) throw new AuthError("CLIENT_TARGET_REFUSED", `${origin} is not in origins.`);
			const visitor = await visitorOf(request);
			if (visitor.user) outgoing.headers.set("Authorization", `Bearer ${visitor.token}`);
			return (options.fetch ?? fetch)(outgoing);
		}
	};
};

export { createServerAuth, followEndedSessions };