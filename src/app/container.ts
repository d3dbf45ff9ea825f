import { assertOrigin, expiredSessions, startAccessLoop, startUsesLoop } from '../accounts'
import { startCheckpointLoop } from '../audit'
import {
  createCanvases,
  createChannels,
  createHooks,
  createSkillRuns,
  createWorkflows,
  registerTriggers,
} from '../automation'
import { expiredCredit, oldCallsTrimmed, startHoldRecovery } from '../billing'
import { createBrowser, startWatchLoop } from '../browser'
import { createCharging } from '../charging'
import { startLeaseLoop } from '../cluster'
import {
  backgroundKind,
  defineBatchJob,
  expiredResponses,
  type FileDeps,
  fileReader,
  removeResponsesOf,
} from '../compat'
import { createLineHandlers } from '../compat/routes'
import { baseRulesOf, honoursParameters } from '../compat/routes-bases'
import {
  cacheRulesOf,
  createAgent,
  createChat,
  createCompletions,
  createReplay,
  createSandbox,
  createTestCases,
  createVoice,
} from '../completions'
import { startEngineSettingsLoop, startProbeLoop } from '../engines'
import { expiredFiles, expiredUploads, sweptFiles } from '../files'
import { expiredKeys, startIdempotencyLoop } from '../idempotency'
import { type Caller, ownerOf } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { errorFields } from '../kernel/log'
import type { Reader } from '../kernel/store'
import { createAudio, createCode, createDocuments, createVideo } from '../media'
import { createHealth } from '../operators'
import {
  type BuiltAssets,
  type BuiltConsole,
  buildAssets,
  buildConsole,
  createAssets,
  createConsoleAssets,
} from '../pages'
import { createResearch, createWeb } from '../research'
import { createConversations, createMemory, createSkills, saveMemory } from '../skills'
import { createSystemTools, createTools } from '../tools'
import { deleteBodies, expiredBodies, startRefusalLoop, startRollupLoop } from '../usage'
import { createWidgets } from '../widgets'
import { ASSETS, bundled, CONSOLE } from './bundle'
import { NEEDED } from './config'
import { buildAccounts, buildDecisions, type Decisions } from './container-accounts'
import { buildFoundation, type Deps, words } from './container-foundation'
import { API_VERSION } from './version'

export type Container = ReturnType<typeof buildContainer>

/** Builds every module once, in the order of the architecture: a module receives only modules that come before it. */
export function buildContainer(deps: Deps) {
  const modules = buildWork(buildDecisions(buildAccounts(buildFoundation(deps))))
  return {
    ...modules,
    assertOrigin,
    // The files of the pages: built with the server's bundle, or built now from the sources.
    assets: createAssets(async (): Promise<BuiltAssets> => {
      const file = bundled(ASSETS)
      return file ? Bun.file(file).json() : buildAssets()
    }),
    consoleAssets: createConsoleAssets(async (): Promise<BuiltConsole> => {
      const file = bundled(CONSOLE)
      return file ? Bun.file(file).json() : buildConsole()
    }),
    startLoops: () => startLoops(modules),
  }
}

/**
 * Starts the background work once the server listens (docs/design.md 6): jobs, which all nodes share, and loops that
 * write this process's buffers or renew its leases.
 */
function startLoops(modules: ReturnType<typeof buildWork>) {
  const { config, store, jobs, billing, idempotency, onError, clock } = modules
  jobs.register(expiredKeys(idempotency))
  jobs.register(expiredSessions(modules))
  jobs.register(expiredCredit(billing.expiringGrants))
  jobs.register(oldCallsTrimmed({ ...modules, keepDays: config.callsKeepDays }))
  jobs.register(modules.published.tidying())
  jobs.register(modules.webhooks.tidying())
  jobs.register(expiredBodies(modules))
  jobs.register(expiredResponses(modules))
  jobs.register(expiredFiles(modules.files))
  jobs.register(expiredUploads(modules))
  jobs.register(sweptFiles({ store, clock, ...modules.filePlace }))
  return [
    ...(store.dialect === 'postgres'
      ? [startEngineSettingsLoop({ ...modules, registry: modules.engineRegistry })]
      : []),
    startProbeLoop(modules),
    startLeaseLoop(modules),
    modules.live.start(),
    modules.widgets.hub.start(),
    startRollupLoop(modules),
    startRefusalLoop({ ...modules, refusals: modules.usage.refusals }),
    startHoldRecovery({ ...modules, release: billing.release, unended: billing.unended }),
    billing.escrows.start(onError),
    startUsesLoop('keys-last-used', { idleMs: 15_000, uses: modules.keyUses, clock, onError }),
    startUsesLoop('sessions', { idleMs: 30_000, uses: modules.sessionUses, clock, onError }),
    startAccessLoop(modules),
    startWatchLoop(modules.browser.watch, modules),
    startIdempotencyLoop(modules),
    startCheckpointLoop(modules),
    jobs.start(),
  ]
}

/** Adds the modules that produce answers: tools, skills, the agent, completions and everything built on them. */
function buildWork(decisions: Decisions) {
  const modules = { ...decisions, ...buildReach(decisions) }
  const { config, store, clock, redis, keys, nodes, engines, traces, tools, settings } = modules
  const agent = createAgent({ engines, tools, clock, trace: traces.step })
  const { brandSoulOf } = keys
  const sandbox = createSandbox({ ...modules, agent })
  const voice = createVoice({ ...modules, agent, brandSoulOf, settings: config, preferences: settings })
  const answering = {
    ...modules,
    traceBodies: config.traceBodies,
    trace: traces.step,
    agent,
    brandSoulOf,
    routing: modules.effective,
  }
  const completions = createCompletions({
    ...answering,
    caching: cacheRulesOf(config),
    sharedAnswers: redis && nodes.isCluster ? { scripts: redis, masterKey: modules.masterKey } : null,
  })
  const audio = createAudio({ ...modules, settings: config, folder: modules.filePlace.incoming })
  buildBatches({ ...answering, audio, caching: { ...cacheRulesOf(config), enabled: false }, sharedAnswers: null })
  const runs = createSkillRuns({ ...modules, completions, lockOwner: modules.orgs.lockOwner })
  registerTriggers({ ...modules, runs })
  const channels = createChannels({ ...modules, orgs: modules.resources.orgs })
  const hooks = createHooks({ ...modules, runs, settings: config })
  const canvases = createCanvases({ ...modules, completions, settings: config })
  const workflows = createWorkflows({
    ...modules,
    completions,
    canvases,
    workflowSettings: config,
    secretOf: tools.signingSecret,
  })
  const widgets = createWidgets({
    ...modules,
    completions,
    settings: config,
    secretOf: tools.signingSecretOf,
  })
  const health = createHealth({
    clock,
    version: API_VERSION,
    leaving: modules.leaving,
    isDraining: nodes.isDraining,
    pingDatabase: store.ping,
    confirmWrites: store.confirm,
    isFailing: store.failing,
    isServed: () => NEEDED.every(nodes.isServed),
    isFarOff: nodes.isFarOff,
    pingRedis: redis?.ping ?? null,
    probeEngines: engines.probeAll,
    engineChanges: engines.changes,
  })
  modules.publicJobs.define(
    backgroundKind({ ...modules, completions, audio, folder: modules.filePlace.incoming, settings: config }),
  )
  modules.resources.orgs.onEnd((tx, { orgId }) => deleteBodies(tx, `org:${orgId}`))
  // A replay uses none of the API paths, so only the key and the operator decide.
  const honours = (caller: Caller, atBase: boolean) => honoursParameters(caller, config.chatParameters, atBase)
  const replay = createReplay({ ...modules, completions, honours })
  const testCases = createTestCases({ ...modules, completions, honours, max: config.maxTestCases })
  return {
    ...modules,
    agent,
    testCases,
    replay,
    sandbox,
    voice,
    completions,
    channels,
    hooks,
    audio,
    chat: createChat({
      completions,
      clock,
      engines,
      rulesOf(request, caller) {
        const { forClients, model } = baseRulesOf(request)
        return { forClients, model, honours: honoursParameters(caller, config.chatParameters, forClients) }
      },
      filesRead: fileReader({ ...modules, audio, folder: modules.filePlace.incoming }),
    }),
    canvases,
    workflows,
    widgets,
    health,
  }
}

type Answering = Pick<FileDeps, 'audio' | 'web'> &
  Parameters<typeof createCompletions>[0] &
  Parameters<typeof createCharging>[0] &
  Decisions

/** Batch lines are answered like other calls, but have their own price and no rate limit (docs/api.md 32.6). */
function buildBatches(modules: Answering): void {
  const { config, prices, limiter } = modules
  const share = (100 - config.batchDiscountPercent) / 100
  const apart = {
    ...modules,
    prices: {
      ...prices,
      costOf: (...used: Parameters<typeof prices.costOf>) => Math.ceil(prices.costOf(...used) * share),
    },
    limiter: { ...limiter, admitMode: () => undefined, reserveTokens: () => ({ correct: () => undefined }) },
  }
  const [completions, charging] = [createCompletions(apart), createCharging(apart)]
  const folder = modules.filePlace.incoming
  const lineHandlers = createLineHandlers({ ...modules, completions, charging, folder, settings: config })
  defineBatchJob({ ...modules, lineHandlers, settings: config })
}

/** Builds what an answer may use: tools, skills, conversations and memory. */
function buildReach(modules: Decisions) {
  const { config, store, clock, log, orgs, settings } = modules
  const { incoming: folder } = modules.filePlace
  const web = createWeb({ outbound: modules.outbound, settings: config })
  const documents = createDocuments({ ...modules, isServed: () => modules.nodes.isServed('jobs'), settings: config })
  const code = createCode(modules)
  const video = createVideo({ ...modules, callerOf: modules.unattended, settings: config, folder })
  const research = createResearch({
    ...modules,
    web,
    knowledgeOf: (call, question) => skills.knowledgeOf(call, question),
    callerOf: modules.unattended,
  })
  const tools = createTools({
    ...modules,
    system: createSystemTools({ web, code, documents, images: modules.images, research, video }),
    enabled: words(config.systemTools),
    roleOf: async ({ caller }) => caller.activeOrgId && orgs.roleOf(store.read, caller.activeOrgId, caller.userId),
    onFault: (tool, error) => log.error({ tool, ...errorFields(error) }, 'tool failed'),
  })
  const zoneOf = async (reader: Reader, userId: UserId) => (await settings.read(reader, userId)).timezone
  const skills = createSkills({ ...modules, tools, zoneOf, settings: config })
  tools.bringSkills(skills.toolsOf)
  const conversations = createConversations({
    ...modules,
    keyOwner: async (call, key) => ownerOf(await modules.keys.callerOf(call, key)),
    alsoRemove: removeResponsesOf,
  })
  const memory = createMemory({ store, audit: modules.audit, clock })
  tools.register(saveMemory(memory))
  const browser = createBrowser({ ...modules, settings: config })
  for (const tool of browser.listedTools()) tools.register(tool)
  const unknown = tools.unknownNames()
  if (unknown.length) log.warn({ unknown }, 'SVC_SYSTEM_TOOLS names tools that do not exist')
  return { zoneOf, web, video, documents, code, research, tools, skills, browser, conversations, memory }
}
