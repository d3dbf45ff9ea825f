import type { ApiKey, ApiKeyWithSecret, KeyRotation, RotatedKey } from '../accounts/keys/schema'
import type { Call } from '../kernel/caller'
import { html, type Markup, page } from '../kernel/html'
import type { Page } from '../kernel/page'
import type { UsageReport } from '../usage/schema'

/** What the page needs of a widget. */
export type OwnWidget = { id: string; name: string; status: string; api_key_id: string; embed_snippet: string }

type NewOwnWidget = { name: string; api_key_id: string; security: { allowedOrigins: string[] } }

export type HomeDeps = {
  /** Prompts can be tried in the browser. */
  playground: boolean
  me(call: Call): Promise<{
    user: { email: string; name: string | null }
    has_password: boolean
    orgs: { id: string; name: string }[]
    active_org_id: string | null
  }>
  usage(call: Call): Promise<UsageReport>
  password: {
    mayOmitCurrent(call: Call): Promise<boolean>
    /** Throws 400, 401, 409, 429. */
    change(call: Call & { ip: string }, input: { current?: string; new: string }): Promise<{ ended: number }>
    /** This server sends sign-in links by mail. */
    canMail: boolean
  }
  /** The last three throw 404 for a key that is not the caller's. */
  keys: {
    /** A page of them, newest first. */
    list(call: Call, cursor?: string): Promise<Page<ApiKey>>
    make(call: Call, name: string): Promise<ApiKeyWithSecret>
    get(call: Call, id: string): Promise<ApiKey>
    rotate(call: Call, id: string, input: KeyRotation): Promise<RotatedKey>
    revoke(call: Call, id: string): Promise<unknown>
  }
  /** Null where the server has no widgets. */
  widgets: {
    list(call: Call): Promise<OwnWidget[]>
    make(call: Call, input: NewOwnWidget): Promise<unknown>
    /** Throws 404 for a widget that is not the caller's. */
    preview(call: Call, id: string): Promise<{ widget: OwnWidget; token: string }>
  } | null
}

/** What a form just did. */
export type Outcome = { note?: string; secret?: string; problem?: string }

const dollars = (cents: number): string => `${(cents / 100).toFixed(2)} USD`
const day = (at: string | null): string => at?.slice(0, 10) ?? 'never'
const whole = new Intl.NumberFormat('en')

/**
 * The page of a person who is signed in: widgets, usage and keys in one place, without a script (dx 5.1). `older` is the
 * cursor of a further page of keys; throws 400 for one that no page led to.
 */
export async function homePage(deps: HomeDeps, call: Call, outcome: Outcome = {}, older?: string): Promise<string> {
  const { note, secret, problem } = outcome
  const [me, usage, keys, widgets] = await Promise.all([
    deps.me(call),
    deps.usage(call),
    deps.keys.list(call, older),
    deps.widgets?.list(call),
  ])
  const active = keys.items.filter(({ status }) => status !== 'revoked')
  const team = me.orgs.find(({ id }) => id === me.active_org_id)
  return page(
    'Home',
    html`<div class="top"><h1>${me.user.name ?? me.user.email}</h1>
<form method="post" action="/sign-out"><button class="quiet" type="submit">Sign out</button></form></div>
<p class="faint">${me.user.email}${team && html`, working for ${team.name}`}. <a href="/home/password">${me.has_password ? 'Change your password' : 'Set a password'}</a></p>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
${note && html`<div class="notice" role="status"><p>${note}</p>${secret && html`<p><code>${secret}</code></p>`}</div>`}
${usageOf(usage)}
${widgets && widgetsOf(widgets, active)}
${keysOf(active, keys.next, older !== undefined)}
<p>${deps.playground && html`Try a key in <a href="/docs/playground">the playground</a>. `}<a href="/docs">The API reference</a> describes every call.</p>`,
    { wide: true },
  )
}

function usageOf({ totals, balance, by_mode }: UsageReport): Markup {
  const modes = Object.entries(by_mode).sort(([, a], [, b]) => b.requests - a.requests)
  return html`<h2>The last 30 days</h2>
<ul class="cards">
<li><strong>${dollars(balance.balance_cents)}</strong>credit</li>
<li><strong>${dollars(totals.cost_cents)}</strong>spent</li>
<li><strong>${whole.format(totals.requests)}</strong>requests</li>
<li><strong>${whole.format(totals.total_tokens)}</strong>tokens</li>
</ul>
${
  modes.length > 0 &&
  html`<div class="scrolls" tabindex="0" role="group" aria-label="Usage by mode"><table>
<thead><tr><th scope="col">Mode</th><th scope="col">Requests</th><th scope="col">Cost</th></tr></thead>
<tbody>${modes.map(([mode, part]) => html`<tr><td>${mode}</td><td>${whole.format(part.requests)}</td><td>${dollars(part.cost_cents)}</td></tr>`)}</tbody>
</table></div>`
}`
}

function widgetsOf(widgets: OwnWidget[], keys: ApiKey[]): Markup {
  return html`<h2>Chat widgets</h2>
<p><a href="/operator">Open the inbox</a> to answer visitors yourself.</p>
${widgets.length === 0 && html`<p class="faint">None yet. A widget is a chat for your website. Its answers are billed to one of your keys.</p>`}
${widgets.map(
  ({
    id,
    name,
    status,
    embed_snippet,
  }) => html`<h3>${name}${status !== 'active' && html` <span class="faint">(${status})</span>`}</h3>
<label for="tag-${id}">HTML tag for your page</label>
<input class="code" id="tag-${id}" readonly value="${embed_snippet}">
<p><a href="/home/widgets/${id}">Preview ${name}</a></p>`,
)}
${
  keys.length > 0 &&
  html`<form method="post" action="/home/widgets" class="row">
<div><label for="widget-name">Name of a new widget</label><input id="widget-name" name="name" required></div>
<div><label for="widget-site">Your site, such as https://shop.example</label><input id="widget-site" name="site" type="url" maxlength="300" required></div>
<div><label for="widget-key">API key</label><select id="widget-key" name="key">${keys.map(({ id, name, prefix }) => html`<option value="${id}">${name} (${prefix}…)</option>`)}</select></div>
<button type="submit">Create a widget</button>
</form>`
}`
}

function keysOf(keys: ApiKey[], next: string | null, isOlder: boolean): Markup {
  return html`<h2>API keys</h2>
${
  keys.length > 0 &&
  html`<div class="scrolls" tabindex="0" role="group" aria-label="API keys"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Begins with</th><th scope="col">Tier</th><th scope="col">Last used</th><th scope="col">This month</th><th scope="col">Change</th></tr></thead>
<tbody>${keys.map((key) => html`<tr><td>${key.name}</td><td><code>${key.prefix}</code></td><td>${key.tier}</td><td>${day(key.last_used_at)}</td><td>${dollars(key.spent_month_cents)}</td><td><a href="/home/keys/${key.id}" aria-label="Rotate or revoke ${key.name}">Rotate or revoke</a></td></tr>`)}</tbody>
</table></div>`
}
${(next !== null || isOlder) && html`<p>${isOlder && html`<a href="/home">Newest keys</a> `}${next !== null && html`<a href="/home?older=${next}">Older keys</a>`}</p>`}
<form method="post" action="/home/keys" class="row">
<div><label for="key-name">Name of a new key</label><input id="key-name" name="name" required></div>
<button type="submit">Create a key</button>
</form>`
}

/** One key, and what can be done about it; this page is the question before it is done. */
export const keyPage = ({ id, name, prefix, tier, last_used_at }: ApiKey): string =>
  page(
    name,
    html`<div class="top"><h1>${name}</h1><p><a href="/home">Back</a></p></div>
<p class="faint">Begins with <code>${prefix}</code>, tier ${tier}, last used ${day(last_used_at)}.</p>
<h2>Rotate</h2>
<p>Creates a new secret. Everything else about the key stays the same.</p>
<form method="post" action="/home/keys/${id}/rotate" class="row">
<div><label for="grace">The old secret works</label><select id="grace" name="grace"><option value="86400">for a day</option><option value="3600">for an hour</option><option value="0">no longer</option></select></div>
<button type="submit">Rotate</button>
</form>
<h2>Revoke</h2>
<p>All requests with this key are refused at once. This cannot be undone.</p>
<form method="post" action="/home/keys/${id}/revoke"><button type="submit">Revoke</button></form>`,
  )

/** One widget as visitors see it, whatever pages it allows. */
export const previewPage = ({ name, id }: OwnWidget, token: string): string =>
  page(
    name,
    html`<div class="top"><h1>${name}</h1><p><a href="/home">Back</a></p></div>
<p class="faint">Messages here are answered and charged as on your website. The preview works for 15 minutes.</p>
<iframe src="/embed/widget/${id}?preview=${token}#inline=1" title="${name}"></iframe>`,
    { wide: true },
  )
