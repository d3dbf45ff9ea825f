import type { Billing, Prices } from '../../billing'
import { endingOf, type Holds, pollUrlOf } from '../../charging'
import { type EngineService, needsModel, sumDetails } from '../../engines'
import type { Draft, Files } from '../../files'
import { type About, type Artifact, ArtifactId } from '../../files/schema'
import { keyIdOf, ownerOf } from '../../kernel/caller'
import { type Clock, iso } from '../../kernel/clock'
import { AppError } from '../../kernel/errors'
import { failpoint } from '../../kernel/failpoint'
import type { Store, Tx } from '../../kernel/store'
import { shorten } from '../../kernel/text'
import { checksOf, codeBlocks, isProject, kindOf, problemsIn, zipOf } from '../../media'
import type { ConversationService } from '../../skills'
import type { AgentResult } from '../agent-schema'
import type { AnswerCache, StoredAnswer } from '../cache'
import { cacheScopeOf } from '../cache'
import { firedIn, structuredOutput, workOf } from '../rules'
import type { Run } from '../run'
import type { FollowUp, ModelRef } from '../schema'
import type { createRecord } from './money'
import { costOfTurns } from './money'
import { explained } from './think'

type Maker = { model: ModelRef; createdAt: number }

/** A file of code before it is kept: its bytes, what they are, and its artifact as long as they are kept nowhere. */
type CodeFile = { bytes: Uint8Array; mimeType: string; about: About; loose: Artifact | null }

type StoredDeps = { store: Pick<Store, 'read'>; files: Pick<Files, 'add' | 'find' | 'receive'> }

/** A file of code with its bytes; null when there was no room for them. */
type StoredCode = CodeFile & { draft: Draft | null }

/** Null in place of a file for which there is no room: on the disk, or in what its owner may keep. */
const unless =
  (...kinds: AppError['kind'][]) =>
  (error: unknown): null => {
    if (error instanceof AppError && kinds.includes(error.kind)) return null
    throw error
  }

const MAX = 3

/** Fixed suggestions by mode. */
const BY_MODE: Record<string, FollowUp[]> = {
  code: [
    { label: 'Add tests', prompt: 'Write tests for this code.' },
    { label: 'Explain it', prompt: 'Explain this code step by step.' },
    { label: 'Make it faster', prompt: 'Where could this code be slow, and how would you make it faster?' },
  ],
  think: [
    { label: 'Check the reasoning', prompt: 'What is the weakest step of this reasoning?' },
    { label: 'Other view', prompt: 'Argue the opposite as well as you can.' },
  ],
  roast: [{ label: 'Harder', prompt: 'Again, but less gentle.' }],
  genui: [{ label: 'Dark mode', prompt: 'Add a dark variant of this component.' }],
  // What is asked next of these is a change of them, which nobody can guess.
  image: [],
  video: [],
  domain_analysis: [{ label: 'Risks', prompt: 'What are the three biggest risks in this analysis?' }],
}

const hasFiles = ({ pictures, spent }: Run): boolean => pictures.length > 0 || !!spent.made?.artifacts.length

const SECTION = /^(?:#{1,4}\s+|\d+\.\s+\*\*|[-*]\s+\*\*)([^\n*#:]{3,60})/gm

type Deps = {
  store: Store
  clock: Clock
  holds: Holds
  billing: Billing
  prices: Prices
  engines: Pick<EngineService, 'describe'>
  conversations: ConversationService
  files: Pick<Files, 'add' | 'discard' | 'find' | 'receive'>
  record: ReturnType<typeof createRecord>['record']
  cache: Pick<AnswerCache, 'put'>
  /** Seconds for which an answer of a mode is cached. */
  ttlS(mode: string): number
  partial(run: Run, text: string): AgentResult
}

/**
 * Ends every admitted run: money, conversation, usage, audit and event are written in one transaction, and only then
 * the answer is given (design 1.4).
 */
export function createFinish({
  store,
  clock,
  holds,
  billing,
  prices,
  engines,
  conversations,
  files,
  record,
  ...deps
}: Deps) {
  const stored = createStored({ store, files })
  return { finish: (run: Run, result: AgentResult) => finish(run, result), abandon, replay }

  /** For a complete or interrupted answer: what was produced is charged and stored. `broken`: the error that ended it. */
  async function finish(run: Run, result: AgentResult, broken?: unknown): Promise<StoredAnswer> {
    const cost = Math.min(costOfTurns(prices, result.turns), run.hold?.amount ?? 0)
    const answer = toAnswer(run, result, engines.describe(result.engineId), clock.now())
    const code =
      workOf(run.resolvedMode) === 'code' ? await stored.received(run, codeFiles(answer.content, answer)) : []
    failpoint('engine_done_before_settle')
    const isPlain = !(code.length || run.later || run.conversationId || run.request.alongside || run.call.once)
    const unit = async (tx: Tx) => {
      // Whether its stages or its tools made a file.
      if (hasFiles(run) || code.length) answer.artifacts = await stored.artifactsOf(tx, run, code)
      // Nothing when the hold had ended: another node released it while this process was paused.
      run.costMicro = run.hold ? await billing.settle(tx, run.hold, cost) : 0
      if (run.later) await run.later.begin(tx)
      if (run.conversationId) await keepTurn(tx, run, answer, broken !== undefined)
      await record(tx, run, { agentResult: result, answer, guardrails: firedIn(run, answer), ...endingOf(broken) })
      if (run.request.alongside) await run.request.alongside(tx, run, answer, broken)
      if (run.call.once && broken === undefined) await keepReply(tx, run, answer)
    }
    await ending(run, unit, isPlain && !hasFiles(run))
    failpoint('settle_commit_before_ack')
    run.ticket?.correct(result.promptTokens + result.completionTokens)
    if (broken === undefined) remember(run, result, answer)
    return answer
  }

  /** The transaction that ends a run. Files of one that is not kept are removed, unless it is not known whether it is. */
  async function ending(run: Run, unit: (tx: Tx) => Promise<void>, isPlain = false): Promise<void> {
    try {
      await holds.ending(run.request.accepted ? null : run.hold, unit, isPlain)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'storage_unavailable')) await discard(run)
      throw error
    }
  }

  async function discard({ drafts }: Run): Promise<void> {
    await Promise.all(drafts.map((draft) => files.discard(draft).catch(() => undefined)))
  }

  /** For a run without an answer: the hold is released and the failure recorded. */
  async function fail(run: Run, error: unknown): Promise<void> {
    run.ticket?.correct(0)
    await discard(run)
    await ending(run, async (tx) => {
      if (run.hold && !run.request.accepted) await billing.release(tx, run.hold)
      await record(tx, run, {
        agentResult: null,
        answer: null,
        guardrails: run.guard?.firings ?? [],
        ...endingOf(error),
      })
    })
  }

  /**
   * For a run that ended early. Charges the text the caller saw, or the finished turns when the caller left or time
   * ran out. Charges nothing when no answer came or the service failed (contract 2.4, P7). Returns the error to throw.
   */
  async function abandon(run: Run, error: unknown): Promise<unknown> {
    const why = explained(run, error)
    const shown = run.held ? run.held.shown() : run.said
    const hasWorked = run.spent.turns.length > 0 && run.deadline.signal.aborted
    if (!(shown && !run.pictures.length) && !hasWorked) await fail(run, why)
    else
      await finish(run, { ...deps.partial(run, run.said), content: shown }, why).catch((error: unknown) => {
        // Whoever asked does not want a half answer.
        if (error !== why) throw error
        return fail(run, why)
      })
    return why
  }

  /** For a cached answer: stored as a turn and recorded, but not charged. */
  async function replay(run: Run, cached: StoredAnswer): Promise<StoredAnswer> {
    const answer = cached.artifacts.length
      ? { ...cached, artifacts: await stored.linkedAnew(run, cached.artifacts) }
      : cached
    run.engineId = answer.model.id
    run.model = answer.model
    run.routing = answer.routing
    await store.write(async (tx) => {
      if (run.conversationId) await keepTurn(tx, run, answer, false)
      await record(tx, run, { agentResult: null, answer, guardrails: firedIn(run, answer), ...endingOf(undefined) })
      await keepReply(tx, run, answer)
    })
    return answer
  }

  /** Stores the turn. Calls of the client's functions are none: it goes on with their results. */
  async function keepTurn(tx: Tx, run: Run, answer: StoredAnswer, isInterrupted: boolean): Promise<void> {
    const { request, attached } = run
    if (run.conversationId === null || answer.toolCalls.length) {
      run.conversationId = attached
      return
    }
    const turn = {
      prompt: request.prompt,
      answer: answer.content,
      mode: request.mode,
      resolvedMode: answer.resolvedMode,
      model: answer.model,
      tools: answer.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description })),
      artifacts: answer.artifacts,
      followUps: answer.followUps,
      costMicro: run.costMicro,
      status: isInterrupted ? ('interrupted' as const) : ('complete' as const),
    }
    const owner = ownerOf(run.call.caller)
    if (attached) await conversations.append(tx, owner, attached, turn)
    else await conversations.start(tx, owner, run.conversationId, turn)
  }

  /** Caches an answer for identical requests (contract 22.1). */
  function remember(
    { cacheKey, call, request, costMicro, later }: Run,
    result: AgentResult,
    answer: StoredAnswer,
  ): void {
    if (cacheKey === null || later || !isWorthKeeping(result)) return
    // `auto` may choose another mode later, so its answers have their own time to live (contract 22.1).
    const ttlS = deps.ttlS(request.mode === 'auto' ? 'auto' : answer.resolvedMode)
    const [scope, owner, keyId] = [cacheScopeOf(call), ownerOf(call.caller), keyIdOf(call.caller)]
    deps.cache.put(cacheKey, { scope, owner, keyId, prompt: request.prompt, ttlS, answer, costMicro })
  }
}

/**
 * Only complete answers are cached: not cut short, not ended early for lack of credit, and without a failed tool, as a
 * search that failed may succeed a minute later.
 */
const isWorthKeeping = ({ finish, toolUses, warnings }: AgentResult): boolean =>
  finish === 'stop' && warnings.length === 0 && toolUses.every(({ status }) => status === 'success')

/** With an Idempotency-Key the reply is stored in the transaction that charges the answer (contract 1.7). */
async function keepReply(tx: Tx, run: Run, answer: StoredAnswer): Promise<void> {
  await run.call.once?.keep(tx, run.request.present(run, answer))
}

function toAnswer(run: Run, result: AgentResult, model: ModelRef, createdAt: number): StoredAnswer {
  const work = workOf(run.resolvedMode)
  const isAnswer = result.finish !== 'content-filter'
  const refusal = result.refusal || (isAnswer && !result.toolCalls.length ? refusalOf(run, result) : null)
  // Of a refusal there is nothing more to ask.
  const asksOn = isAnswer && refusal === null && !needsModel(result.content)
  // A sentence for each block of code in an answer that a parser refuses.
  return {
    id: run.id,
    createdAt,
    content: result.content,
    resolvedMode: run.resolvedMode,
    model,
    finish: result.finish,
    stoppedBy: result.stoppedBy,
    toolsUsed: result.toolUses.map(({ id: _, ...use }) => use),
    toolCalls: result.toolCalls,
    reasoning: result.reasoning,
    refusal,
    artifacts: [],
    followUps: asksOn && run.request.wantsFollowUps && !run.later ? suggestFollowUps(work, result.content) : [],
    skillsActive: run.active.skills.map(({ id, slug, name }) => ({ id, slug, name })),
    structuredOutput: structuredOutput(work, result.content),
    routing: result.fallbackUsed ? { ...run.routing, fallback_used: true } : run.routing,
    warnings: [
      ...run.warnings,
      ...result.warnings,
      ...(work === 'code' ? problemsIn(checksOf(codeBlocks(result.content))) : []),
    ],
    guardrails: (run.guard?.firings ?? []).filter(({ phase }) => phase !== 'input'),
    promptTokens: result.promptTokens,
    completionTokens: result.completionTokens,
    ...sumDetails([result]),
    toolCents: run.spent.made?.costCents ?? 0,
    job: run.later && { job_id: run.later.id, status: 'queued', poll_url: pollUrlOf(run.later.id) },
  }
}

/** Why the content does not have the form that was asked for; null when it has it or none was asked for. */
function refusalOf({ request }: Run, { content, finish }: AgentResult): string | null {
  const problem = request.checkJson?.(content) ?? null
  return problem && finish === 'length' ? `The answer was cut at the output limit. ${problem}` : problem
}

/**
 * Up to three follow-up questions: first about the answer's headings, then the fixed ones of the mode.
 * No engine is called, so they cost nothing and add no latency.
 */
function suggestFollowUps(mode: string, content: string): FollowUp[] {
  if (content.length < 80 && !BY_MODE[mode]) return []
  const fromSections = [...content.matchAll(SECTION)].slice(0, MAX - 1).map(([, title]) => {
    const subject = title!.trim()
    return { label: shorten(subject, 40), prompt: `Tell me more about ${subject}.` }
  })
  const general: FollowUp[] = [{ label: 'Summarise', prompt: 'Summarise that in three sentences.' }]
  return [...fromSections, ...(BY_MODE[mode] ?? general)].slice(0, MAX)
}

/** Files of an answer: kept with the commit that ends its run, and linked anew each time it is given. */
function createStored({ store, files }: StoredDeps) {
  return { received, artifactsOf, linkedAnew }

  /** Keeps the bytes of code. An answer is worth more than its files, so without room it goes without links. */
  async function received(run: Run, wanted: readonly CodeFile[]): Promise<StoredCode[]> {
    const all: StoredCode[] = []
    for (const file of wanted) {
      const draft = await files.receive(file.bytes, file.mimeType).catch(unless('conflict', 'unavailable'))
      if (draft) run.drafts.push(draft)
      all.push({ ...file, draft })
    }
    return all
  }

  /** What the run made: pictures, files of code, and what its tools made, which is kept already. */
  async function artifactsOf(tx: Tx, run: Run, code: readonly StoredCode[]): Promise<Artifact[]> {
    const owner = ownerOf(run.call.caller)
    const { requestId } = run.call
    const all: (Artifact | null)[] = []
    for (const { draft, about } of run.pictures) all.push(await files.add(tx, owner, draft, { ...about, requestId }))
    for (const { draft, about, loose } of code) {
      all.push(
        (draft && (await files.add(tx, owner, draft, { ...about, requestId }).catch(unless('conflict')))) ?? loose,
      )
    }
    for (const id of run.spent.made?.artifacts ?? []) {
      all.push(ArtifactId.is(id) ? await files.find(tx, owner, id) : null)
    }
    return all.filter((one) => one !== null)
  }

  /** The same files with links that work for an hour (contract 2.3); one that was deleted has none. */
  function linkedAnew({ call }: Run, artifacts: readonly Artifact[]): Promise<Artifact[]> {
    return Promise.all(
      artifacts.map(async (artifact) => {
        if (artifact.url === null || !ArtifactId.is(artifact.id)) return artifact
        const found = await files.find(store.read, ownerOf(call.caller), artifact.id)
        return found ?? { ...artifact, url: null, url_expires_at: null }
      }),
    )
  }
}

/** The fenced blocks of code in an answer, each as an artifact (contract 2.3). An unclosed fence makes no artifact. */
export function codeArtifacts(text: string, { model, createdAt }: Maker): Artifact[] {
  return codeBlocks(text).map(({ path, language, content }) => ({
    id: ArtifactId.create(),
    type: 'code',
    title: null,
    filename: path,
    mime_type: kindOf(language).mimeType,
    url: null,
    url_expires_at: null,
    size_bytes: Buffer.byteLength(content),
    content,
    language: language || null,
    format: null,
    width: null,
    height: null,
    duration_seconds: null,
    engine: model.engine,
    model: model.id,
    prompt: null,
    created: iso(createdAt),
  }))
}

/** The files of code in an answer, and of a project one archive of all. */
function codeFiles(text: string, maker: Maker): CodeFile[] {
  const by = { engine: maker.model.engine, model: maker.model.id }
  const files = codeArtifacts(text, maker).map((loose): CodeFile => {
    const { filename, mime_type: mimeType, content, language } = loose
    // A file has a name, and a title where the answer gives it a path.
    const title = filename.includes('/') ? filename : null
    const about: About = { type: 'code', filename, title, content, language, ...by }
    return { bytes: new TextEncoder().encode(content ?? ''), mimeType, about, loose }
  })
  const blocks = codeBlocks(text)
  if (!isProject(blocks)) return files
  const about: About = { type: 'file', filename: 'project.zip', title: 'project.zip', ...by }
  return [...files, { bytes: zipOf(blocks, maker.createdAt), mimeType: 'application/zip', about, loose: null }]
}
