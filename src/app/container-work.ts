import {
  createCanvases,
  createChannels,
  createHooks,
  createSkillRuns,
  createWorkflows,
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
import { NEEDED } from './config'
import type { Decisions } from './container-decisions'
import { words } from './container-foundation'
import { API_VERSION } from './version'

/** Adds the rooms that produce answers: tools, skills, the agent, completions and what is built on them. */
export function buildWork(decisions: Decisions) {
  const rooms = { ...decisions, ...buildReach(decisions) }
  const { config, store, clock, redis, keys, nodes, engines, traces, tools, settings } = rooms
  const agent = createAgent({ engines, tools, clock, trace: traces.step })
  const { brandSoulOf } = keys
  const sandbox = createSandbox({ ...rooms, agent })
  const voice = createVoice({ ...rooms, agent, brandSoulOf, settings: config, preferences: settings })
  const completions = createCompletions({
    ...rooms,
    trace: traces.step,
    agent,
    brandSoulOf,
    routing: rooms.effective,
    caching: cacheRulesOf(config),
  })
  const runs = createSkillRuns({ ...rooms, completions, lockOwner: rooms.orgs.lockOwner })
  registerTriggers({ ...rooms, runs })
  const channels = createChannels({ ...rooms, orgs: rooms.resources.orgs })
  const hooks = createHooks({ ...rooms, runs, settings: config })
  const audio = createAudio({ ...rooms, settings: config, folder: rooms.filePlace.incoming })
  const canvases = createCanvases({ ...rooms, completions, settings: config })
  const workflows = createWorkflows({
    ...rooms,
    completions,
    canvases,
    workflowSettings: config,
    secretOf: tools.signingSecret,
  })
  const widgets = createWidgets({
    ...rooms,
    completions,
    settings: config,
    secretOf: tools.signingSecretOf,
    // Whom the work of a key runs as; null where the key no longer works.
    keyOf: async (id: KeyId): Promise<KeyCaller | null> => {
      const caller = await rooms.unattended({ user_id: '' as UserId, api_key_id: id, active_org_id: null })
      return caller?.type === 'key' ? caller : null
    },
  })
  const health = createHealth({
    clock,
    version: API_VERSION,
    leaving: rooms.leaving,
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
    ...rooms,
    agent,
    sandbox,
    voice,
    completions,
    channels,
    hooks,
    audio,
    chat: createChat({ completions, clock }),
    canvases,
    workflows,
    widgets,
    health,
  }
}

/** Builds what an answer may use: tools, skills, conversations and memory. */
function buildReach(rooms: Decisions) {
  const { config, store, clock, log, orgs, settings } = rooms
  const { incoming: folder } = rooms.filePlace
  const web = createWeb({ outbound: rooms.outbound, settings: config })
  const documents = createDocuments({ ...rooms, isServed: () => rooms.nodes.isServed('jobs'), settings: config })
  const code = createCode(rooms)
  const video = createVideo({ ...rooms, callerOf: rooms.unattended, settings: config, folder })
  const research = createResearch({
    ...rooms,
    web,
    knowledgeOf: (call, question) => skills.knowledgeOf(call, question),
    callerOf: rooms.unattended,
  })
  const tools = createTools({
    ...rooms,
    system: createSystemTools({ web, code, documents, images: rooms.images, research, video }),
    enabled: words(config.systemTools),
    roleOf: async ({ caller }) => caller.activeOrgId && orgs.roleOf(store.read, caller.activeOrgId, caller.userId),
    onFault: (tool, error) => log.error({ tool, ...errorFields(error) }, 'tool failed'),
  })
  const zoneOf = async (reader: Reader, userId: UserId) => (await settings.read(reader, userId)).timezone
  const skills = createSkills({ ...rooms, tools, zoneOf, settings: config })
  tools.bringSkills(skills.toolsOf)
  const conversations = createConversations({
    ...rooms,
    keyOwner: async (call, key) => ownerOf(await rooms.keys.callerOf(call, key)),
  })
  const memory = createMemory({ store, audit: rooms.audit, clock })
  tools.register(saveMemory(memory))
  const browser = createBrowser({ ...rooms, settings: config })
  for (const tool of browser.listedTools()) tools.register(tool)
  const unknown = tools.unknownNames()
  if (unknown.length) log.warn({ unknown }, 'SVC_SYSTEM_TOOLS names tools that do not exist')
  return { zoneOf, web, video, documents, code, research, tools, skills, browser, conversations, memory }
}
