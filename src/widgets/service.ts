import { resolveTxt } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import type { OrgService } from '../accounts'
import type { AuditLog } from '../audit'
import type { Live } from '../cluster'
import type { EngineService } from '../engines'
import type { Files } from '../files'
import { storeAnswer } from '../idempotency'
import { type Holder, type Jobs, recurring } from '../jobs'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { type Clock, iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { hmacHex } from '../kernel/crypto'
import { AppError, atField, invalidInput, notFound, quoted } from '../kernel/errors'
import { KeyId, OrgId, UserId } from '../kernel/ids'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import type { Reader, Tx } from '../kernel/store'
import { type Change, createResource, type ResourceDeps } from '../resource'
import type { SkillService } from '../skills'
import type { Send } from '../webhooks'
import { analyse } from './analytics'
import type { widgetSettings } from './config'
import { noSuchPerson, noSuchSkill } from './errors'
import { readGroups } from './groups'
import { createHub } from './hub'
import { identitySecretOf } from './identity'
import { createBotCheck, createLimits } from './limits'
import { createOperatorSide, subjectOf } from './operators'
import { createPictures } from './pictures'
import { publicName } from './present'
import { sessionRepository as rows } from './repository'
import { createRequestHandoff } from './request-handoff'
import { widget } from './resource'
import {
  type Analytics,
  type AnalyticsQuery,
  type DomainCheck,
  type DomainChecked,
  type Duplicate,
  type IdentitySecret,
  type NewWidget,
  type PreviewToken,
  type Widget,
  WidgetId,
  type WidgetPatch,
} from './schema'
import type { WidgetRow } from './table'
import { CHAT, createRecent, createTranscript, type TranscriptDeps } from './transcript'
import { createTurns } from './turns'
import { createVisitorAuth } from './visitor-auth'
import { createVisitorSide } from './visitors'

type DomainsDeps = {
  clock: Clock
  masterKey: Uint8Array
  outbound: Pick<Outbound, 'fetchPublic' | 'readUrl'>
  /** The TXT records of a name; by default those of this system's resolver. */
  txtOf?: (name: string) => Promise<string[][]>
}

const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const PATH = '/.well-known/svc-verify.txt'

const MAX_BYTES = 4_096

const TIMEOUT_MS = 5_000

/** Called for a change; with the id of a chat when nothing but its visitor's writing is new. */
type Changed = (writing: string | null) => void

/** Typing is told over and over; without a word for so long it has ended. */
const WRITES_MS = 5_000

const MAX_WRITING = 2_000

type AgentAvailabilityDeps = { orgs: Pick<OrgService, 'user' | 'userByEmail' | 'members'> }

type Deps = Omit<TranscriptDeps, 'recent'> &
  Omit<Parameters<typeof createTurns>[0], 'store' | 'live' | 'transcript'> & {
    resources: ResourceDeps
    audit: AuditLog
    jobs: Pick<Jobs, 'register' | 'enqueue'>
    webhooks: { send: Send }
    /** What signs calls to addresses of this owner. */
    secretOf(owner: OwnerScope): string
    files: Pick<Files, 'receive' | 'add' | 'discard' | 'find'>
    engines: Pick<EngineService, 'knowsMode'>
    skills: Pick<SkillService, 'runnable'>
    outbound: Pick<Outbound, 'fetchPublic' | 'readUrl' | 'assertPublicUrl'>
    orgs: Pick<OrgService, 'user' | 'userByEmail' | 'members'>
    masterKey: Uint8Array
    origin(): string
    settings: Values<typeof widgetSettings>
    txtOf?: (name: string) => Promise<string[][]>
    onError(name: string, error: unknown): void
  }

export type WidgetService = ReturnType<typeof createWidgets>

const TIDY = { everyMs: 60_000, batch: 500 }

/** Chat widgets: what owners set up, what visitors do, and how people take over (contract 15). */
export function createWidgets(deps: Deps) {
  const { resources, audit, jobs, engines, clock, live, files, orgs, keyOf, masterKey, origin, settings, onError } =
    deps
  const { store } = resources
  const bots = createBotCheck(deps.outbound, settings)
  const recent = createRecent()
  const transcript = createTranscript({ ...deps, recent })
  const ask = createRequestHandoff({ ...deps, store, transcript })
  const visitorAuth = createVisitorAuth({ store, clock, masterKey, origin, keyOf })
  const limits = createLimits({ clock, settings })
  const turns = createTurns({ ...deps, store, transcript })
  const pictures = createPictures({ store, files })
  const hub = createHub({ store, clock, live, recent, onError })
  const watch = createWatch({ live, clock })
  const visitors = createVisitorSide({ ...deps, store, visitorAuth, transcript, ask, limits, bots, turns, pictures })
  const verifyDomain = createDomains(deps)
  const resource = createResource(resources, widget, {
    max: settings.maxWidgets,
    read,
    changed,
    answer: (_, { row }) => ({ embed_snippet: snippetOf(row.id) }),
  })
  const operators = createOperatorSide({
    store,
    audit,
    live,
    transcript,
    clock,
    findWidget: resource.find,
    nameOf,
    personOf: createPeople({ orgs }),
    drafts: turns,
    pictures,
  })
  jobs.register(recurring('widgets.tidy', TIDY.everyMs, tidy))
  /** With the snippet, which has this server's address. */
  const widgets = {
    ...resource,
    list: async (...requests: Parameters<typeof resource.list>) => {
      const page = await resource.list(...requests)
      return { ...page, items: page.items.map(withSnippet) }
    },
    get: async (...requests: Parameters<typeof resource.get>) => withSnippet(await resource.get(...requests)),
  }
  return {
    widgets,
    operators,
    visitors,
    hub,
    watch,
    visitorAuth,
    duplicate,
    preview,
    identitySecret,
    verify,
    analytics,
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
    const groups = readGroups(sent, before, { knowsMode, hasBotCheck: bots.isSetUp, tier: key?.tier ?? 'free' })
    if (groups.intents?.action === 'webhook' && groups.intents.url) await assertCallable(groups.intents.url)
    await assertRunnable(key ?? caller, sent.behavior?.skills ?? [], before?.behavior.skills ?? [])
    const paying = keyId === undefined || !key ? {} : { api_key_id: key.keyId, key_owner: ownerOf(key) }
    return { name, status, ...paying, ...groups }
  }

  /** As for the addresses of webhooks. Throws 400 `url_blocked`. */
  async function assertCallable(url: string): Promise<void> {
    await deps.outbound.assertPublicUrl(url).catch((error) => {
      throw atField(error, 'intents.url')
    })
  }

  /** Throws 404 for a skill that the widget's answers could not use. One that it had before may be gone by now. */
  async function assertRunnable(caller: Caller, slugs: readonly string[], before: readonly string[]): Promise<void> {
    for (const slug of slugs)
      if (!before.includes(slug) && !(await deps.skills.runnable(caller, slug))) throw noSuchSkill(slug)
  }

  /** The key that pays. Throws 404 for one that the caller does not have; null where it no longer works. */
  async function keyFor(caller: Caller, sent: string | undefined, before: WidgetRow | null) {
    if (sent === undefined) return before && keyOf(before.api_key_id)
    const key = KeyId.is(sent) ? await keyOf(sent) : null
    if (!key || !hasKey(caller, ownerOf(key))) throw notFound('API key')
    return key
  }

  /** An organization's key may link only its organization's; people also their own. */
  function hasKey(caller: Caller, owner: OwnerScope): boolean {
    if (caller.type === 'operator' || owner === ownerOf(caller)) return true
    return caller.orgId === null && owner === `org:${caller.activeOrgId}`
  }

  async function changed(tx: Tx, { verb, row, before }: Change<typeof widget>): Promise<void> {
    // An operator names an owner, whose key it must be; a team's widget may use the key of the person who made it.
    if (![row.owner, `user:${row.user_id}`].includes(row.key_owner) && row.key_owner !== before?.key_owner)
      throw notFound('API key')
    if (verb !== 'deleted') return
    const gone = await rows.removeOf(tx, row.id)
    await transcript.chats.forget(tx, gone)
    for (const id of gone) transcript.tell(tx, { id, config_id: row.id }, { what: 'closed' })
  }

  /** A copy for the same owner, paid by the same key. Throws 403, 409 where the owner has the most. */
  async function duplicate(call: Call<Caller>, id: string, { name }: NonNullable<Duplicate> = {}): Promise<Widget> {
    return store.write(async (tx) => {
      const before = await resource.findToChange(tx, call.caller, id)
      const now = clock.now()
      const named = { id: WidgetId.create(), name: name ?? `${before.name.slice(0, 121)} (copy)` }
      const copy = { ...named, identity_version: 0, created_at: now, updated_at: now }
      const row: WidgetRow = { ...before, ...copy }
      await resource.add(tx, { call, verb: 'duplicated', row }, { metadata: { from: before.id } })
      return storeAnswer(tx, call, withSnippet(await resource.present(tx, row)))
    })
  }

  async function preview({ caller }: Call<Caller>, id: string): Promise<PreviewToken> {
    const row = await resource.find(store.read, caller, id)
    const { token, until } = visitorAuth.previews.make(row.id, clock.now())
    return { token, preview_url: `${origin()}/embed/widget/${row.id}?preview=${token}`, expires_at: iso(until) }
  }

  /** Makes the secret with which the owner's server signs who visitors are; the one before ends at once. */
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

  async function verify({ caller }: Call<Caller>, id: string, input: DomainCheck) {
    return verifyDomain((await resource.find(store.read, caller, id)).id, input)
  }

  async function analytics({ caller }: Call<Caller>, id: string, query: AnalyticsQuery): Promise<Analytics> {
    return analyse(store.read, clock, (await resource.find(store.read, caller, id)).id, query)
  }

  function snippetOf(id: WidgetId): string {
    return `<script async src="${origin()}/embed.js" data-config-id="${id}"></script>`
  }

  function withSnippet<View extends Widget>(view: View): View {
    return { ...view, embed_snippet: snippetOf(view.id) }
  }

  /** Closes chats whose time is over. */
  async function tidy(): Promise<number> {
    const due = await rows.expired(store.read, clock.now(), TIDY.batch)
    for (const { id, owner, config_id } of due) {
      await store.write(async (tx) => {
        const subject = subjectOf({ id, owner })
        await transcript.chats.release(tx, subject, { call: null })
        await transcript.changed(tx, id, { status: 'closed' })
        transcript.tell(tx, { id, config_id }, { what: 'closed' })
      })
    }
    return due.length
  }

  async function nameOf(reader: Reader, caller: Caller): Promise<string | null> {
    return caller.type === 'operator' ? null : ((await orgs.user(reader, caller.userId))?.name ?? null)
  }
}

/** Who may answer in a widget's chats: its team, or the one person whose it is. */
function createPeople({ orgs }: AgentAvailabilityDeps) {
  /** By e-mail address or id. Throws 404 for whoever is not one of them, or has no account that works. */
  return async function personOf(reader: Reader, owner: OwnerScope, ref: string): Promise<Holder> {
    const user = UserId.is(ref) ? await orgs.user(reader, ref) : await orgs.userByEmail(reader, ref)
    if (!user || user.disabled_at !== null || !(await isOneOf(reader, owner, user.id))) throw noSuchPerson()
    return { id: user.id, name: publicName(user.name) }
  }

  async function isOneOf(reader: Reader, owner: OwnerScope, userId: UserId): Promise<boolean> {
    if (owner === `user:${userId}`) return true
    const orgId = owner.startsWith('org:') ? owner.slice('org:'.length) : ''
    if (!OrgId.is(orgId)) return false
    return (await orgs.members.all(reader, orgId)).some(({ user_id }) => user_id === userId)
  }
}

/** Tells of changes in any chat of a widget, in this process: one ear for whoever watches. */
export function createWatch({ live, clock }: { live: Live; clock: Clock }) {
  const watchers = new Map<string, Set<Changed>>()
  const writing = new LRUCache<string, number>({ max: MAX_WRITING })
  live.hear(CHAT, '*', (heard) => {
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
   * Calls `changed` whenever there is something new in a chat of these widgets, until the returned function is called. It
   * may miss something: look by yourself now and then.
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

  /** Whether the visitor of this chat writes something now. */
  function writes(sessionId: string): boolean {
    const at = writing.get(sessionId)
    return at !== undefined && clock.monotonic() - at < WRITES_MS
  }
}

/** Whether a widget's owner controls a domain: a TXT record or a file says the value of this widget (contract 15.1). */
export function createDomains({ clock, masterKey, outbound, txtOf = resolveTxt }: DomainsDeps) {
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

  /** Through the outbound door: the name may lead anywhere. */
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
  const domain = sent.trim().toLowerCase().replace(/\.$/, '')
  if (HOST.test(domain)) return domain
  throw invalidInput('domain', `"domain" is "${quoted(sent)}"; send a host name such as shop.example.`)
}
