import { type Later, pollUrlOf, type Work } from '../charging'
import { type MadeImage, originOf } from '../engines'
import { ownerOf } from '../kernel/caller'
import { captionOf, type MadePictures, pictureDescribed, type VideoService } from '../media'
import { type Findings, isNothingToRead, type Stored } from '../research'
import { type AgentResult, EMPTY_RESULT } from './agent-schema'
import { researchUse } from './guard'
import { isHandedOver, isStealth, workOf } from './rules'
import type { PipelineDeps, Run } from './run'

/** How long `auto` waits for research before it continues as a job (docs/api.md 2.4). */
const HAND_OVER_MS = 60_000

const IN_AUTO = { depth: 'basic', maxSources: 5 } as const

const REQUESTED_FOR = { depth: 'advanced', maxSources: 10 } as const

/** A larger picture is described to the engine instead of sent. */
const MAX_BASE_BYTES = 20 * 1024 * 1024

/**
 * How much a run may research. Null for no research. Requests with tools, functions or JSON go to the agent. So do
 * questions in a conversation if the caller did not name the mode, because their words alone do not show what is meant.
 */
export function researchOf({ request, history, resolvedMode }: Run): Run['researchRun'] {
  const isPlain =
    !request.functions &&
    !request.json &&
    !request.checkJson &&
    !request.tools.length &&
    !request.sealed &&
    !request.bounds &&
    request.maxOutputTokens === undefined
  if (workOf(resolvedMode) !== 'research' || !isPlain || (request.mode === 'auto' && history.length)) return null
  return request.mode === 'auto' ? IN_AUTO : REQUESTED_FOR
}

/**
 * Does research within a request, in the same way as `POST /research` (docs/api.md 2.4). Null when there is nothing to
 * read. The engine then answers from what it knows, and a warning reports that.
 */
export async function answerWithResearch(
  { research, clock }: PipelineDeps,
  run: Run,
  researchRun: NonNullable<Run['researchRun']>,
): Promise<AgentResult | null> {
  const request = { prompt: run.request.prompt, ...researchRun }
  const memory: Stored = new Map()
  const handingOver = new AbortController()
  const disarm = isHandedOver(run) ? clock.after(HAND_OVER_MS, () => handingOver.abort()) : () => undefined
  const signal = AbortSignal.any([run.deadline.signal, handingOver.signal])
  try {
    return agentResultOf(run, await research.inquire(run.call, request, { memory, signal, guard: run.guard }))
  } catch (error) {
    if (isNothingToRead(error)) {
      run.warnings = [...run.warnings, `There is no research report. ${error.message}`]
      return null
    }
    if (!handingOver.signal.aborted || run.deadline.signal.aborted) throw error
    return handOver(run, await research.later(run.call, request, memory), 'This takes longer than a minute')
  } finally {
    disarm()
  }
}

function agentResultOf(run: Run, found: Findings): AgentResult {
  const { report, turns, pages, warnings } = found
  const last = turns.at(-1)
  const engineId = last?.engineId ?? run.engineId
  const counted = turns.map((turn, at) => (at === turns.length - 1 ? { ...turn, pages } : turn))
  const sum = (of: 'promptTokens' | 'completionTokens') => turns.reduce((total, turn) => total + turn[of], 0)
  return {
    ...EMPTY_RESULT,
    engineId,
    free: last?.free ?? true,
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    content: report,
    turns: counted,
    toolUses: [researchUse(run, found)],
    warnings: warnings.slice(0, 20),
  }
}

/** Answers with a video, or with the job that makes it (docs/api.md 2.4). Throws what engines throw. */
export async function answerWithVideo(deps: PipelineDeps, run: Run): Promise<AgentResult> {
  const { prompt, mode, videoSeconds: seconds } = run.request
  const request = { prompt, seconds, mode: isStealth(mode) ? 'stealth_video' : 'video' } as const
  if (!isHandedOver(run)) return filmNow(deps, run, request)
  const result = handOver(run, await deps.video.later(run.call, request), 'A video takes longer than an answer')
  return { ...result, free: true }
}

async function filmNow(
  { video, files }: PipelineDeps,
  run: Run,
  request: Parameters<VideoService['now']>[1],
): Promise<AgentResult> {
  const { engineId, free, seconds, warnings, ...filmed } = await video.now(run.call, request, {
    signal: run.deadline.signal,
    keep: keeperOf(files, run),
  })
  run.pictures = filmed.files
  run.warnings = [...run.warnings, ...warnings]
  const caption = captionOf(request.prompt)
  const content = free
    ? `A local animation of “${caption}”, drawn by rules without a video model. It lasts ${seconds} s.`
    : `Here is “${caption}”. It lasts ${seconds} s.`
  const turn = {
    engineId,
    free,
    promptTokens: 0,
    completionTokens: 0,
    seconds: Math.min(seconds, request.seconds ?? seconds),
  }
  return { ...EMPTY_RESULT, engineId: run.engineId, free, content, turns: [turn] }
}

/** Stores the bytes of a file until it becomes an artifact with the end of the run. */
const keeperOf =
  (files: PipelineDeps['files'], { drafts }: Run): Work['keep'] =>
  async (source, mimeType) => {
    const draft = await files.receive(source, mimeType)
    drafts.push(draft)
    return draft
  }

/** Ends a run with a job that continues its work. The job is queued in the transaction that ends the run. */
function handOver(run: Run, later: Later, why: string): AgentResult {
  run.later = later
  const content = `${why}, so it continues as job ${later.id}. Read its progress and result at ${pollUrlOf(later.id)}.`
  return { ...EMPTY_RESULT, engineId: run.engineId, content }
}

/** Answers with a new or changed picture (docs/api.md 2.2). Throws what image engines throw. */
export async function answerWithPicture(deps: PipelineDeps, run: Run): Promise<AgentResult> {
  const { request, call, deadline } = run
  // The earlier prompts whose answers were pictures, oldest first.
  const { prompt, changes } = pictureDescribed(
    request.prompt,
    run.history.flatMap((turn) => (turn.pictured && typeof turn.content === 'string' ? [turn.content] : [])),
  )
  const stealth = isStealth(request.mode)
  const made = await deps.pictures(
    {
      prompt,
      changes,
      base: changes.length ? await pictureBefore(deps, run) : null,
      ...request.picture,
      engineId: run.pictureEngineId,
      count: 1,
    },
    {
      signal: deadline.signal,
      origin: { ...originOf(call), stealth },
      keep: keeperOf(deps.files, run),
    },
  )
  const { engineId, free } = made
  const tokens = { promptTokens: 0, completionTokens: 0 }
  run.pictures = made.pictures.flatMap((one) =>
    one ? [stealth ? { ...one, about: { ...one.about, prompt: null } } : one] : [],
  )
  const content = captionFor(captionOf(prompt), changes, made)
  return {
    ...EMPTY_RESULT,
    engineId: run.engineId,
    free,
    content,
    fallbackUsed: engineId !== run.pictureEngineId,
    turns: [{ engineId, free, ...tokens, images: run.pictures.length }],
  }
}

/** The caller's picture that is to be changed, if the conversation has one. */
async function pictureBefore({ files, store }: PipelineDeps, { history, call }: Run): Promise<MadeImage | null> {
  const id = history.findLast(({ pictured }) => pictured)?.pictureId
  const row = id ? await files.findRow(store.read, ownerOf(call.caller), id) : undefined
  if (row?.type !== 'image' || row.size_bytes > MAX_BASE_BYTES) return null
  return { bytes: new Uint8Array(await new Response(await files.read(row)).arrayBuffer()), mimeType: row.mime_type }
}

function captionFor(caption: string, changes: readonly string[], { free, unknown }: MadePictures): string {
  const shown = `“${caption}”${changes.length ? `, changed as you asked` : ''}`
  if (!free) return `Here is ${shown}.`
  const drawn = `A local illustration of ${shown}, drawn by rules without an image model.`
  return unknown.length ? `${drawn} It has no picture of: ${unknown.join(', ')}.` : drawn
}
