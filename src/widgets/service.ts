import { resolveTxt } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import type { Live } from '../cluster'
import { storeAnswer } from '../idempotency'
import { recurring } from '../jobs'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import { hmacHex } from '../kernel/crypto'
import { AppError, atField, invalidInput, notFound, quoted } from '../kernel/errors'
import { KeyId } from '../kernel/ids'
import { OutboundFailure } from '../kernel/outbound'
import { readMoment } from '../kernel/range'
import type { Tx } from '../kernel/store'
import { beginningOf } from '../kernel/text'
import { type Change, createResource } from '../resource'
import { sessionsSince } from './analytics'
import type { Deps, OtherModules } from './deps'
import { widgetErrors } from './errors'
import { readGroups } from './groups'
import { createHub } from './hub'
import { identitySecretOf } from './identity'
import { sessionRepository as rows } from './repository'
import { callJob } from './request-handoff'
import { widget } from './resource'
import {
  type DomainCheck,
  type DomainChecked,
  type Duplicate,
  type IdentitySecret,
  type NewWidget,
  type PreviewToken,
  type Widget,
  WidgetId,
  type WidgetPatch,
  type WidgetQuery,
} from './schema'
import type { WidgetRow } from './table'
import { CHAT, CHATS, createRecent, markChat, publishChat, subjectOf, takeoverChanged } from './transcript'
import { makePreview } from './visitor-auth'

const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const PATH = '/.well-known/svc-verify.txt'

const MAX_BYTES = 4_096

const TIMEOUT_MS = 5_000

/** Called for a change. The argument is the chat's id if only its visitor is typing, else null. */
type Changed = (writing: string | null) => void

/** Typing notices repeat. After this long without one, the visitor has stopped. */
const WRITES_MS = 5_000

const MAX_WRITING = 2_000

export type WidgetService = ReturnType<typeof createWidgets>

/** Maximum number of chats to remember as typing. */
const MAX_TYPING = 2_000

const TIDY = { everyMs: 60_000, batch: 500 }

/** Chat widgets: owners configure them, visitors use them, and people take chats over (docs/api.md 15). */
export function createWidgets(modules: OtherModules) {
  const { resources, audit, jobs, engines, clock, live, keyOf, masterKey, origin, settings, takeovers } = modules
  const { store } = resources
  const chats = takeovers.of({ ...CHATS, changed: (tx, change) => takeoverChanged(deps, tx, change) })
  const resource = createResource(resources, widget, {
    max: settings.maxWidgets,
    read,
    changed,
    answer: (_, { row }) => ({ embed_snippet: snippetOf(row.id) }),
  })
  const deps: Deps = {
    ...modules,
    store,
    chats,
    recent: createRecent(),
    replies: new Map(),
    typingShownAt: new LRUCache({ max: MAX_TYPING }),
    findWidget: resource.find,
  }
  jobs.register(callJob(deps))
  jobs.register(recurring('widgets.tidy', TIDY.everyMs, tidy))
  /** Adds the snippet, which contains this server's address. */
  const widgets = {
    ...resource,
    list: async (call: Call<Caller>, query: WidgetQuery, filter?: Parameters<typeof resource.list>[2]) => {
      const page = await resource.list(call, query, filter)
      const ids = page.items.map(({ id }) => id as WidgetId)
      const from = readMoment('sessions_from', query.sessions_from)
      const many = from === null ? null : await sessionsSince(store.read, ids, from)
      const items = page.items.map(withSnippet)
      if (!many) return { ...page, items }
      return { ...page, items: items.map((it) => ({ ...it, sessions: many.get(it.id as WidgetId) ?? 0 })) }
    },
    get: async (...requests: Parameters<typeof resource.get>) => withSnippet(await resource.get(...requests)),
  }
  /** The names of all widgets that the caller sees. */
  async function all(call: Call): Promise<ReadonlyMap<WidgetId, string>> {
    const names = new Map<WidgetId, string>()
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await resource.list(call, { limit: 100, cursor })
      for (const { id, name } of items) names.set(id as WidgetId, name)
      if (next === null) return names
      cursor = next
    }
  }

  return {
    deps,
    widgets,
    hub: createHub(deps),
    watch: createWatch({ live, clock }),
    verifyDomain: createDomains(modules),
    all,
    duplicate,
    preview,
    identitySecret,
    tidy,
  }

  async function read(
    { name, api_key_id: keyId, ...sent }: NewWidget | WidgetPatch,
    { caller }: Call<Caller>,
    before: WidgetRow | null,
  ) {
    const key = await keyFor(caller, keyId, before)
    const status = 'status' in sent ? sent.status : undefined
    const { knowsMode } = engines
    const groups = readGroups(sent, before, {
      knowsMode,
      hasBotCheck: settings.turnstileSecret !== '',
      tier: key?.tier ?? 'free',
    })
    if (groups.intents?.action === 'webhook' && groups.intents.url) {
      // Like for webhook addresses: throws 400 `url_blocked`.
      await modules.outbound.assertPublicUrl(groups.intents.url).catch((error) => {
        throw atField(error, 'intents.url')
      })
    }
    // Throws 404 for a skill that the widget's answers could not use. Skills it already had may be gone by now.
    for (const slug of sent.behavior?.skills ?? [])
      if (!(before?.behavior.skills ?? []).includes(slug) && !(await modules.skills.runnable(key ?? caller, slug)))
        throw widgetErrors.noSuchSkill.with({ param: 'behavior.skills' }, slug)
    const paying = keyId === undefined || !key ? {} : { api_key_id: key.keyId, key_owner: ownerOf(key) }
    return { name, status, ...paying, ...groups }
  }

  /** The key that pays. Throws 404 for a key that the caller does not have. Null if it no longer works. */
  async function keyFor(caller: Caller, sent: string | undefined, before: WidgetRow | null) {
    if (sent === undefined) return before && keyOf(before.api_key_id)
    const key = KeyId.is(sent) ? await keyOf(sent) : null
    if (!key || !hasKey(caller, ownerOf(key))) throw atField(notFound('API key'), 'api_key_id')
    return key
  }

  /** An organization's key may link only keys of that organization. People may also link their own. */
  function hasKey(caller: Caller, owner: OwnerScope): boolean {
    if (caller.type === 'operator' || owner === ownerOf(caller)) return true
    return caller.orgId === null && owner === `org:${caller.activeOrgId}`
  }

  async function changed(tx: Tx, { verb, row, before }: Change<typeof widget>): Promise<void> {
    // The key must belong to the named owner. A team's widget may also use the key of its creator.
    if (![row.owner, `user:${row.user_id}`].includes(row.key_owner) && row.key_owner !== before?.key_owner)
      throw atField(notFound('API key'), 'api_key_id')
    if (verb !== 'deleted') return
    const gone = await rows.removeOf(tx, row.id)
    await chats.forget(tx, gone)
    for (const id of gone) publishChat(deps, tx, { id, config_id: row.id }, { what: 'closed' })
  }

  /** Copies a widget for the same owner and paying key. Throws 403, 409 when the owner has the maximum number. */
  async function duplicate(call: Call<Caller>, id: string, { name }: NonNullable<Duplicate> = {}): Promise<Widget> {
    return store.write(async (tx) => {
      const before = await resource.findToChange(tx, call.caller, id)
      const now = clock.now()
      const named = { id: WidgetId.create(), name: name ?? `${beginningOf(before.name, 121)} (copy)` }
      const copy = { ...named, identity_version: 0, created_at: now, updated_at: now }
      const row: WidgetRow = { ...before, ...copy }
      await resource.add(tx, { call, verb: 'duplicated', row }, { metadata: { from: before.id } })
      return storeAnswer(tx, call, withSnippet(await resource.present(tx, row)))
    })
  }

  async function preview({ caller }: Call<Caller>, id: string): Promise<PreviewToken> {
    const row = await resource.find(store.read, caller, id)
    const { token, until } = makePreview(deps, row.id)
    return { token, preview_url: `${origin()}/embed/widget/${row.id}?preview=${token}`, expires_at: iso(until) }
  }

  /** Creates the secret with which the owner's server signs visitors' identities. The previous one ends at once. */
  async function identitySecret(call: Call<Caller>, id: string): Promise<IdentitySecret> {
    return store.write(async (tx) => {
      const before = await resource.findToChange(tx, call.caller, id)
      const version = before.identity_version + 1
      await rows.changeWidget(tx, before.id, { identity_version: version })
      const about = { entityType: 'iframe' as const, entityId: before.id, scope: before.owner }
      await audit.record(tx, call, { action: 'iframe.identity_secret_made', ...about })
      return storeAnswer(tx, call, { secret: identitySecretOf(masterKey, { ...before, identity_version: version })! })
    })
  }

  function snippetOf(id: WidgetId): string {
    return `<script async src="${origin()}/embed.js" data-config-id="${id}"></script>`
  }

  function withSnippet<View extends Widget>(view: View): View {
    return { ...view, embed_snippet: snippetOf(view.id) }
  }

  /** Closes expired chats. */
  async function tidy(): Promise<number> {
    const due = await rows.expired(store.read, clock.now(), TIDY.batch)
    for (const { id, owner, config_id } of due) {
      await store.write(async (tx) => {
        const subject = subjectOf({ id, owner })
        await chats.release(tx, subject, { call: null })
        await markChat(deps, tx, id, { status: 'closed' })
        publishChat(deps, tx, { id, config_id }, { what: 'closed' })
      })
    }
    return due.length
  }
}

/** Reports changes in any chat of a widget, within this process. Uses one listener for all watchers. */
export function createWatch({ live, clock }: { live: Live; clock: Clock }) {
  const watchers = new Map<string, Set<Changed>>()
  const writing = new LRUCache<string, number>({ max: MAX_WRITING })
  live.subscribe(CHAT, '*', (heard) => {
    if (heard === null) {
      for (const ofWidget of watchers.values()) for (const changed of ofWidget) changed(null)
      return
    }
    const id = String(heard.id)
    const isTyping = heard.what === 'typing'
    if (isTyping && heard.role !== 'user') return
    if (isTyping) writing.set(id, clock.monotonic())
    else if (heard.what === 'message') writing.delete(id)
    for (const changed of watchers.get(String(heard.widget)) ?? []) changed(isTyping ? id : null)
  })
  return { watch, writes }

  /**
   * Calls `changed` for every change in a chat of these widgets, until the returned function is called. Notices can get
   * lost, so callers must also poll.
   */
  function watch(widgetIds: readonly string[], changed: Changed): () => void {
    for (const id of widgetIds) watchers.set(id, (watchers.get(id) ?? new Set()).add(changed))
    return () => {
      for (const id of widgetIds) {
        const ofWidget = watchers.get(id)
        ofWidget?.delete(changed)
        if (!ofWidget?.size) watchers.delete(id)
      }
    }
  }

  /** True while the visitor of this chat is typing. */
  function writes(sessionId: string): boolean {
    const at = writing.get(sessionId)
    return at !== undefined && clock.monotonic() - at < WRITES_MS
  }
}

/** Checks that a widget's owner controls a domain: a TXT record or a file has its value (docs/api.md 15.1). */
export function createDomains({
  clock,
  masterKey,
  outbound,
  txtOf = resolveTxt,
}: Pick<OtherModules, 'clock' | 'masterKey' | 'outbound' | 'txtOf'>) {
  return async function verify(id: string, { domain: sent, method = 'dns' }: DomainCheck): Promise<DomainChecked> {
    const domain = readDomain(sent)
    const value = `svc-verify=${hmacHex(masterKey, `widget-domain ${id} ${domain}`).slice(0, 40)}`
    const name = method === 'dns' ? `_svc-verify.${domain}` : `https://${domain}${PATH}`
    const verified = method === 'dns' ? await says(name, value) : await serves(name, value)
    return { domain, verified, method, record: { name, value }, checked_at: iso(clock.now()) }
  }

  async function says(name: string, value: string): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<string[][]>()
    const cancel = clock.after(TIMEOUT_MS, () => resolve([]))
    const found = await Promise.race([txtOf(name).catch(() => []), late])
    cancel()
    return found.some((parts) => parts.join('').trim() === value)
  }

  /** Uses `outbound`, because the name may lead anywhere. */
  async function serves(url: string, value: string): Promise<boolean> {
    try {
      const { status, body } = await outbound.fetchPublic(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS })
      return status === 200 && Buffer.from(body).toString('utf8').trim() === value
    } catch (error) {
      if (error instanceof OutboundFailure) return false
      if (error instanceof AppError && error.code === 'url_blocked') throw atField(error, 'domain')
      throw error
    }
  }
}

function readDomain(sent: string): string {
  const name = sent.trim().replace(/\.$/, '')
  // The domain name system requires names beyond ASCII in their encoded form.
  const domain = /[\s/:?#@\\]/.test(name) ? '' : (URL.parse(`https://${name}`)?.hostname ?? '')
  if (HOST.test(domain)) return domain
  throw invalidInput('domain', `"domain" is "${quoted(sent)}"; send a host name such as shop.example.`)
}
