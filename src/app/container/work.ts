import { createAgent, createSandbox } from '../../agent'
import { createCanvases } from '../../canvases'
import { createChat } from '../../chat'
import { cacheRulesOf, createCompletions } from '../../completions'
import { createConversations, createMemory, saveMemory } from '../../conversations'
import { createHealth } from '../../health'
import { errorFields } from '../../kernel/log'
import { registerSkillRuns } from '../../skill-runs'
import { createSkills } from '../../skills'
import { createSystemTools, createTools } from '../../tools'
import { API_VERSION } from '../version'
import type { Accounts } from './accounts'
import type { Decisions } from './decisions'
import { type Deps, words } from './deps'
import type { Foundation } from './foundation'

export type Work = ReturnType<typeof buildWork>

type Rooms = Foundation & Accounts & Decisions

/** Builds the rooms that produce answers: tools, skills, the agent, completions and what is built on them. */
export function buildWork(deps: Deps, rooms: Rooms) {
  const { config, store, clock, redis, stopping } = deps
  const { outbound, audit, settings, usage, events, jobs, keys, access, limiter, billing, prices } = rooms
  const { engines, classifier, guardrails, effective } = rooms
  const reach = buildReach(deps, rooms)
  const { tools, skills } = reach
  const agent = createAgent({ engines, tools, clock })
  const sandbox = createSandbox({ store, audit, agent, engines, tools, skills, guardrails, limiter })
  const completions = createCompletions({
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
    outbound,
    access,
    stopping,
    brandSoulOf: keys.brandSoulOf,
    routing: effective,
    caching: cacheRulesOf(config),
  })
  registerSkillRuns({ audit, events, jobs, clock, skills, completions, stopping })
  const chat = createChat({ completions, clock })
  const canvases = createCanvases({ store, audit, events, clock, skills, completions })
  const health = createHealth({
    clock,
    version: API_VERSION,
    pingDatabase: store.ping,
    confirmWrites: store.confirm,
    isFailing: store.failing,
    pingRedis: redis?.ping ?? null,
    probeEngines: engines.probeAll,
    engineChanges: engines.changes,
  })
  return { ...reach, agent, sandbox, completions, chat, canvases, health }
}

/** Builds what an answer may use: tools, skills, conversations and memory. */
function buildReach({ config, store, clock, log, masterKey }: Deps, { outbound, audit, events, orgs }: Rooms) {
  const tools = createTools({
    outbound,
    masterKey,
    system: createSystemTools({ outbound, settings: config }),
    enabled: words(config.systemTools),
    roleOf: async ({ caller }) => caller.activeOrgId && orgs.roleOf(store.read, caller.activeOrgId, caller.userId),
    onFault: (tool, error) => log.error({ tool, ...errorFields(error) }, 'tool failed'),
  })
  const skills = createSkills({ store, audit, events, clock, orgs, tools, settings: config })
  tools.bringSkills(skills.toolsOf)
  const conversations = createConversations({ store, audit, clock })
  const memory = createMemory({ store, audit, clock })
  tools.register(saveMemory(memory))
  const unknown = tools.unknownNames()
  if (unknown.length) log.warn({ unknown }, 'SVC_SYSTEM_TOOLS names tools that are not there')
  return { tools, skills, conversations, memory }
}
