import {
  createCanvases,
  createChannels,
  createHooks,
  createSkillRuns,
  createWorkflows,
  registerPrompts,
  registerTriggers,
} from '../automation'
import { createBrowser } from '../browser'
import { cacheRulesOf, createAgent, createChat, createCompletions, createSandbox, createVoice } from '../completions'
import { type KeyCaller, ownerOf } from '../kernel/caller'
import type { KeyId, UserId } from '../kernel/ids'
import { errorFields } from '../kernel/log'
import type { Reader } from '../kernel/store'
import { createAudio, createCode, createDocuments, createVideo } from '../media'
import { createHealth } from '../operators'
import { createResearch, createWeb } from '../research'
import { createConversations, createMemory, createSkills, saveMemory } from '../skills'
import { createSystemTools, createTools } from '../tools'
import { createWidgets } from '../widgets'
import type { Accounts } from './container-accounts'
import type { Decisions } from './container-decisions'
import { type Deps, words } from './container-deps'
import type { Foundation } from './container-foundation'
import { NEEDED } from './roles'
import { API_VERSION } from './version'

export type Work = ReturnType<typeof buildWork>

type Rooms = Foundation & Accounts & Decisions

/** Builds the rooms that produce answers: tools, skills, the agent, completions and what is built on them. */
export function buildWork(deps: Deps, rooms: Rooms) {
  const { config, store, clock, redis, stopping } = deps
  const { outbound, audit, settings, usage, events, keys, access, limiter, billing, prices, nodes } = rooms
  const { engines, classifier, guardrails, effective, resources, traces } = rooms
  const reach = buildReach(deps, rooms)
  const { tools, skills } = reach
  const agent = createAgent({ engines, tools, clock, trace: traces.step })
  const sandbox = createSandbox({ store, audit, agent, engines, tools, skills, guardrails, limiter })
  const voice = createVoice({
    ...reach,
    store,
    clock,
    agent,
    guardrails,
    masterKey: deps.masterKey,
    settings: config,
    preferences: settings,
    charging: rooms.charging,
    brandSoulOf: keys.brandSoulOf,
  })
  const completions = createCompletions({
    trace: traces.step,
    ...reach,
    store,
    clock,
    audit,
    usage,
    events,
    settings,
    limiter,
    billing,
    prices,
    engines,
    classifier,
    agent,
    guardrails,
    files: rooms.files,
    pictures: rooms.pictures,
    outbound,
    access,
    stopping,
    brandSoulOf: keys.brandSoulOf,
    routing: effective,
    caching: cacheRulesOf(config),
  })
  const runs = createSkillRuns({
    ...rooms,
    ...reach,
    store,
    clock,
    completions,
    stopping,
    lockOwner: rooms.orgs.lockOwner,
  })
  registerPrompts({ events, runs })
  registerTriggers({ ...rooms, store, clock, skills, runs })
  const channels = createChannels({ ...rooms, store, clock, orgs: rooms.resources.orgs })
  const hooks = createHooks({ ...rooms, skills, runs, settings: config })
  const { charging, filePlace } = rooms
  const audio = createAudio({ charging, engines, clock, settings: config, folder: filePlace.incoming })
  const chat = createChat({ completions, clock })
  const canvases = createCanvases({ resources, skills, completions, settings: config })
  const workflows = createWorkflows({
    ...rooms,
    ...reach,
    store,
    clock,
    completions,
    canvases,
    workflowSettings: config,
    secretOf: tools.signingSecret,
    zoneOf: reach.zoneOf,
  })
  const widgets = createWidgets({
    ...rooms,
    ...reach,
    clock,
    completions,
    stopping,
    masterKey: deps.masterKey,
    origin: deps.origin,
    settings: config,
    secretOf: tools.signingSecretOf,
    keyOf: (id: KeyId) => keyCallerOf(rooms, id),
  })
  const health = createHealth({
    clock,
    version: API_VERSION,
    leaving: deps.leaving,
    pingDatabase: store.ping,
    confirmWrites: store.confirm,
    isFailing: store.failing,
    isServed: () => NEEDED.every(nodes.isServed),
    isFarOff: nodes.isFarOff,
    pingRedis: redis?.ping ?? null,
    probeEngines: engines.probeAll,
    engineChanges: engines.changes,
  })
  return {
    ...reach,
    audio,
    voice,
    agent,
    sandbox,
    completions,
    chat,
    canvases,
    workflows,
    hooks,
    channels,
    widgets,
    health,
  }
}

/** Whom the work of a key runs as; null where the key no longer works. */
const keyCallerOf = async ({ unattended }: Pick<Rooms, 'unattended'>, id: KeyId): Promise<KeyCaller | null> => {
  const caller = await unattended({ user_id: '' as UserId, api_key_id: id, active_org_id: null })
  return caller?.type === 'key' ? caller : null
}

/** Builds what an answer may use: tools, skills, conversations and memory. */
function buildReach({ config, store, clock, log, masterKey, node, origin }: Deps, rooms: Rooms) {
  const { outbound, audit, orgs } = rooms
  const web = createWeb({ outbound, settings: config })
  const documents = createDocuments({
    ...rooms,
    store,
    clock,
    isServed: () => rooms.nodes.isServed('jobs'),
    settings: config,
  })
  const code = createCode({ clock, ...rooms })
  const video = createVideo({
    ...rooms,
    clock,
    callerOf: rooms.unattended,
    settings: config,
    folder: rooms.filePlace.incoming,
  })
  const research = createResearch({
    ...rooms,
    store,
    clock,
    web,
    knowledgeOf: (call, question) => skills.knowledgeOf(call, question),
    callerOf: rooms.unattended,
  })
  const tools = createTools({
    outbound,
    masterKey,
    system: createSystemTools({ web, code, documents, images: rooms.images, research, video }),
    enabled: words(config.systemTools),
    roleOf: async ({ caller }) => caller.activeOrgId && orgs.roleOf(store.read, caller.activeOrgId, caller.userId),
    onFault: (tool, error) => log.error({ tool, ...errorFields(error) }, 'tool failed'),
  })
  const { settings } = rooms
  const zoneOf = async (reader: Reader, userId: UserId) => (await settings.read(reader, userId)).timezone
  const skills = createSkills({ ...rooms, store, clock, tools, zoneOf, settings: config })
  tools.bringSkills(skills.toolsOf)
  const conversations = createConversations({
    ...rooms,
    store,
    audit,
    clock,
    keyOwner: async (call, key) => ownerOf(await rooms.keys.callerOf(call, key)),
  })
  const memory = createMemory({ store, audit, clock })
  tools.register(saveMemory(memory))
  const browser = createBrowser({ ...rooms, store, clock, log, node, masterKey, origin, settings: config })
  for (const tool of browser.listedTools()) tools.register(tool)
  const unknown = tools.unknownNames()
  if (unknown.length) log.warn({ unknown }, 'SVC_SYSTEM_TOOLS names tools that do not exist')
  return { zoneOf, web, video, documents, code, research, tools, skills, browser, conversations, memory }
}
