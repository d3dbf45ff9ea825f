import { clientLeft, pollUrlOf } from '../charging'
import { addDetails, needsModel } from '../engines'
import type { Draft } from '../files'
import { type About, type Artifact, ArtifactId } from '../files/schema'
import { keyIdOf, ownerOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { sha256Hex } from '../kernel/crypto'
import { AppError, atField } from '../kernel/errors'
import { failpoint } from '../kernel/failpoint'
import type { Tx } from '../kernel/store'
import { ReaderLeft } from '../kernel/stream'
import { checksOf, codeBlocks, codeFiles, kindOf, problemsIn } from '../media'
import { type AgentResult, EMPTY_RESULT } from './agent-schema'
import { cacheScopeOf, type StoredAnswer } from './cache'
import { costOfTurns } from './open'
import { activeSkills, contentOf } from './present'
import { endOf } from './record'
import { completionErrors, structuredOutput, suggestFollowUps, workOf } from './rules'
import type { PipelineDeps, Run } from './run'
import type { ModelRef } from './schema'

/**
 * Charges and stores a complete or interrupted answer. One transaction writes money, conversation, usage, audit and
 * event, and the answer is returned only after it (docs/design.md 1.4). `broken`: the error that ended the answer.
 */
export async function finish(
  deps: PipelineDeps,
  run: Run,
  result: AgentResult,
  broken?: unknown,
): Promise<StoredAnswer> {
  const cost = run.hold ? Math.min(costOfTurns(deps.prices, result.turns), run.hold.amount) : 0
  const answer = toAnswer(run, result, deps.engines.describe(result.engineId), deps.clock.now())
  const code = workOf(run.resolvedMode) === 'code' ? await receiveCode(deps, run, answer.content, answer) : []
  failpoint('engine_done_before_settle')
  // True if the run's stages or tools made a file.
  const hasFiles = code.length > 0 || run.pictures.length > 0 || !!run.spent.made?.artifacts.length
  const { alongside, isApart } = run.request
  const isAlone = !!(hasFiles || run.later || run.conversationId || (alongside && !isApart) || run.call.once)
  const effects = async (tx: Tx, costMicro: number) => {
    run.costMicro = costMicro
    if (hasFiles) answer.artifacts = await artifactsOf(deps, tx, run, code)
    if (run.later) await run.later.begin(tx)
    if (run.conversationId) await keepTurn(deps, tx, run, answer, broken !== undefined)
    if (alongside) await alongside(tx, run, answer, broken)
    if (broken !== undefined) await run.call.once?.broke?.(tx, broken)
    else if (run.call.once) await keepReply(tx, run, answer)
  }
  const how = { result, answer, broken, cost, effects: isAlone || alongside ? effects : null }
  try {
    await deps.holds.end(endOf(deps, run, how, isAlone))
  } catch (error) {
    // If the outcome is unknown, the files may be in use.
    if (!(error instanceof AppError && error.code === 'storage_unavailable')) await discard(deps, run)
    throw error
  }
  failpoint('settle_commit_before_ack')
  run.ticket?.correct(result.promptTokens + result.completionTokens)
  if (broken === undefined) remember(deps, run, result, answer)
  return answer
}

async function discard({ files }: PipelineDeps, { drafts }: Run): Promise<void> {
  await Promise.all(drafts.map((draft) => files.discard(draft).catch(() => undefined)))
}

/** Ends a run without an answer: releases the hold and records the failure. */
async function fail(deps: PipelineDeps, run: Run, error: unknown): Promise<void> {
  run.ticket?.correct(0)
  await discard(deps, run)
  await deps.holds.fail(endOf(deps, run, { broken: error }))
}

/**
 * Ends a run that stopped early. Charges the text that the caller saw, or the finished turns when the caller left or
 * time ran out. Charges nothing without an answer or on failure (docs/api.md 2.4). Returns the error to throw.
 */
export async function abandon(deps: PipelineDeps, run: Run, error: unknown): Promise<unknown> {
  const why = explained(run, error)
  const shown = run.held ? run.held.shown() : run.said.text
  const hasWorked = run.spent.turns.length > 0 && run.deadline.signal.aborted
  if (!(shown && !run.pictures.length) && !hasWorked) await fail(deps, run, why)
  else
    await finish(deps, run, { ...partial(deps, run, run.said.text), content: shown }, why).catch((error: unknown) => {
      // The caller does not want half an answer.
      if (error !== why) throw error
      return fail(deps, run, why)
    })
  return why
}

/** Stores a cached answer as a turn and records it, but does not charge it. */
export async function replay(deps: PipelineDeps, run: Run, cached: StoredAnswer): Promise<StoredAnswer> {
  const answer = cached.artifacts.length
    ? { ...cached, artifacts: await withFreshLinks(deps, run, cached.artifacts) }
    : cached
  run.engineId = answer.model.id
  run.model = answer.model
  run.routing = answer.routing
  const effects = async (tx: Tx) => {
    if (run.conversationId) await keepTurn(deps, tx, run, answer, false)
    if (run.call.once) await keepReply(tx, run, answer)
  }
  await deps.holds.end(endOf(deps, run, { answer, effects: run.conversationId || run.call.once ? effects : null }))
  return answer
}

/** Stores the turn. Calls of the client's functions do not end a turn, which continues with their results. */
async function keepTurn(
  { conversations }: PipelineDeps,
  tx: Tx,
  run: Run,
  answer: StoredAnswer,
  isInterrupted: boolean,
): Promise<void> {
  const { request, attached } = run
  if (run.conversationId === null || answer.toolCalls.length) {
    run.conversationId = attached
    return
  }
  if (typeof request.conversation === 'object' && request.conversation.stored) return
  const turn = { prompt: request.prompt, answer: answer.content, ...aboutOf(run, answer, isInterrupted) }
  const owner = ownerOf(run.call.caller)
  if (attached) await conversations.append(tx, owner, attached, turn)
  else await conversations.start(tx, owner, run.conversationId, turn)
}

/** Data that the conversation keeps about an answer. */
export const aboutOf = ({ request, costMicro }: Run, answer: StoredAnswer, isInterrupted: boolean) => ({
  mode: request.mode,
  resolvedMode: answer.resolvedMode,
  model: answer.model,
  tools: answer.toolsUsed.map(({ name, status, description }) => ({ toolName: name, status, description })),
  artifacts: answer.artifacts,
  followUps: answer.followUps,
  costMicro,
  status: isInterrupted ? ('interrupted' as const) : ('complete' as const),
})

/** Caches an answer for identical requests (docs/api.md 22.1). */
function remember(
  deps: PipelineDeps,
  { cacheKey, call, request, costMicro, later }: Run,
  result: AgentResult,
  answer: StoredAnswer,
): void {
  if (cacheKey === null || later) return
  // Only complete answers are cached: not cut short, not ended early for lack of credit, and without a failed tool,
  // because a search that failed may succeed a minute later.
  const { finish, toolUses, warnings } = result
  if (finish !== 'stop' || warnings.length || toolUses.some(({ status }) => status !== 'success')) return
  // `auto` may choose another mode later, so its answers have their own time to live (docs/api.md 22.1).
  const ttlS = deps.caching.ttlS(request.mode === 'auto' ? 'auto' : answer.resolvedMode)
  const [scope, owner, keyId] = [cacheScopeOf(call), ownerOf(call.caller), keyIdOf(call.caller)]
  deps.cache.put(cacheKey, { scope, owner, keyId, promptHash: sha256Hex(request.prompt), ttlS, answer, costMicro })
}

/** With an Idempotency-Key the reply is stored in the transaction that charges the answer (docs/api.md 1.7). */
async function keepReply(tx: Tx, run: Run, answer: StoredAnswer): Promise<void> {
  await run.call.once?.keep(tx, run.request.present(run, answer))
}

const NO_LOGPROBS: NonNullable<AgentResult['logprobs']> = []

function toAnswer(run: Run, result: AgentResult, model: ModelRef, createdAt: number): StoredAnswer {
  const work = workOf(run.resolvedMode)
  const { content, logprobs = NO_LOGPROBS } = result
  const isAnswer = result.finish !== 'content-filter'
  // Why the content does not have the requested form. Null if it has, or if none was requested.
  const problem = (isAnswer && !result.toolCalls.length && run.request.checkJson?.(content)) || null
  const cut = problem && result.finish === 'length' ? 'The answer was cut at the output limit. ' : ''
  const refusal = result.refusal || (problem && cut + problem)
  // A guardrail may have changed the content since.
  const spoken = result.spoken && contentOf(result.spoken) === content ? result.spoken : undefined
  // A refusal gets no follow-ups.
  const asksOn = run.request.wantsFollowUps && !run.later && isAnswer && refusal === null && !needsModel(content)
  const lacksLikely =
    run.request.sampling?.logprobs !== undefined &&
    !logprobs.length &&
    !run.warnings.some((warning) => /\blogprobs\b/.test(warning))
  const warnings = [...run.warnings, ...result.warnings]
  if (content && lacksLikely) warnings.push('"logprobs" is null, because the engine gave none.')
  if (work === 'code') warnings.push(...problemsIn(checksOf(codeBlocks(content))))
  const answer: StoredAnswer = {
    id: run.id,
    createdAt,
    content,
    reasoning: result.reasoning,
    finish: result.finish,
    stoppedBy: result.stoppedBy,
    fingerprint: result.fingerprint,
    toolCalls: result.toolCalls,
    promptTokens: result.promptTokens,
    completionTokens: result.completionTokens,
    resolvedMode: run.resolvedMode,
    model,
    toolsUsed: result.toolUses.map(({ id: _, ...use }) => use),
    refusal,
    artifacts: [],
    followUps: asksOn ? suggestFollowUps(work, content) : [],
    skillsActive: activeSkills(run),
    structuredOutput: structuredOutput(work, content),
    routing: result.fallbackUsed ? { ...run.routing, fallback_used: true } : run.routing,
    warnings,
    guardrails: run.guard ? run.guard.firings.filter(({ phase }) => phase !== 'input') : [],
    toolCents: run.spent.made?.costCents ?? 0,
    job: run.later && { job_id: run.later.id, status: 'queued', poll_url: pollUrlOf(run.later.id) },
  }
  if (logprobs.length) answer.logprobs = logprobs
  if (spoken) answer.spoken = spoken
  return addDetails(answer, result)
}

/** The text and tool calls of a run that stopped early. The tokens of its last turn are our own count. */
export function partial({ engines }: PipelineDeps, { engineId, promptTokens, spent }: Run, text: string): AgentResult {
  const half = text.slice(spent.textLength)
  const completionTokens = half ? engines.countTokens(half) : 0
  const broken = { engineId, free: engines.isFree(engineId), promptTokens, completionTokens }
  const turns = half || !spent.turns.length ? [...spent.turns, broken] : [...spent.turns]
  return {
    ...EMPTY_RESULT,
    engineId,
    free: broken.free,
    promptTokens: turns.reduce((sum, turn) => sum + turn.promptTokens, 0),
    completionTokens: turns.reduce((sum, turn) => sum + turn.completionTokens, 0),
    content: text,
    turns,
    toolUses: spent.toolUses,
  }
}

/** Why a run ended, in the caller's terms: the time was up, the client left, or the prompt is too long. */
function explained(run: Run, error: unknown): unknown {
  if (run.deadline.isLate) return completionErrors.requestTimeout(run.write ? 600 : 120, run.request.mode)
  if (run.call.signal.aborted || error instanceof ReaderLeft) return clientLeft()
  const isTooLong = error instanceof AppError && error.kind === 'invalid' && error.param === 'prompt'
  return isTooLong && run.request.paths ? atField(error, run.request.paths.all) : error
}

type Maker = { model: ModelRef; createdAt: number }

/** A code file before it is stored: its bytes, their type, and the artifact it has as long as it is not stored. */
type CodeFile = { bytes: Uint8Array; mimeType: string; about: About; loose: Artifact | null }

/** A code file with its stored bytes. Null when there was no room for them. */
type StoredCode = CodeFile & { draft: Draft | null }

/** Returns null instead of a file for which there is no room, on the disk or in the owner's quota. */
const unless =
  (...kinds: AppError['kind'][]) =>
  (error: unknown): null => {
    if (error instanceof AppError && kinds.includes(error.kind)) return null
    throw error
  }

/** Stores the code files of an answer. Without room for them, the answer is given without links. */
async function receiveCode({ files }: PipelineDeps, run: Run, text: string, maker: Maker): Promise<StoredCode[]> {
  const all: StoredCode[] = []
  for (const file of codeFilesIn(text, maker)) {
    const draft = await files.receive(file.bytes, file.mimeType).catch(unless('conflict', 'unavailable'))
    if (draft) run.drafts.push(draft)
    all.push({ ...file, draft })
  }
  return all
}

/** What the run made: pictures, code files, and the files of its tools, which are already stored. */
async function artifactsOf(
  { files }: PipelineDeps,
  tx: Tx,
  run: Run,
  code: readonly StoredCode[],
): Promise<Artifact[]> {
  const owner = ownerOf(run.call.caller)
  const { requestId } = run.call
  const all: (Artifact | null)[] = []
  for (const { draft, about } of run.pictures) all.push(await files.add(tx, owner, draft, { ...about, requestId }))
  for (const { draft, about, loose } of code) {
    all.push((draft && (await files.add(tx, owner, draft, { ...about, requestId }).catch(unless('conflict')))) ?? loose)
  }
  for (const id of run.spent.made?.artifacts ?? []) {
    all.push(ArtifactId.is(id) ? await files.find(tx, owner, id) : null)
  }
  return all.filter((one) => one !== null)
}

/** The same files with new links that work for an hour (docs/api.md 2.3). A deleted file has no link. */
const withFreshLinks = (
  { files, store }: PipelineDeps,
  { call }: Run,
  artifacts: readonly Artifact[],
): Promise<Artifact[]> =>
  Promise.all(
    artifacts.map(async (artifact) => {
      if (artifact.url === null || !ArtifactId.is(artifact.id)) return artifact
      const found = await files.find(store.read, ownerOf(call.caller), artifact.id)
      return found ?? { ...artifact, url: null, url_expires_at: null }
    }),
  )

/** The fenced code blocks of an answer, each as an artifact (docs/api.md 2.3). An unclosed fence makes no artifact. */
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

/** The code files of an answer, each with the artifact that it is without stored bytes. */
function codeFilesIn(text: string, maker: Maker): CodeFile[] {
  const loose = codeArtifacts(text, maker)
  const by = { engine: maker.model.engine, model: maker.model.id }
  return codeFiles(codeBlocks(text), maker.createdAt, by).map(({ about, ...file }, at) => ({
    ...file,
    // Code has a title only if the answer gives its path.
    about: about.type === 'code' && !about.filename.includes('/') ? { ...about, title: null } : about,
    loose: loose[at] ?? null,
  }))
}
