import type { Thought } from '../../agent/schema'
import { originOf } from '../../engines'
import type { Files } from '../../files'
import { captionOf, type Pictures, pictureDescribed } from '../../media'
import { isStealth } from '../rules'
import type { Run, Write } from '../run'
import { holdBackOf } from './guard'
import { BLOCKED, show } from './show'

type Deps = { pictures: Pictures; files: Pick<Files, 'receive'> }

/** The prompts before this one whose answers were pictures, oldest first. */
const picturedIn = ({ history }: Pick<Run, 'history'>): string[] =>
  history.flatMap((turn) => (turn.pictured && typeof turn.content === 'string' ? [turn.content] : []))

/** Answers with a picture: a new one, or the one before it changed (contract 2.2). Throws what image engines throw. */
export function createPaint({ pictures, files }: Deps) {
  return async function paint(run: Run): Promise<Thought> {
    const { request, call, deadline } = run
    const { prompt, changes } = pictureDescribed(request.prompt, picturedIn(run))
    const stealth = isStealth(request.mode)
    const made = await pictures(
      { prompt, changes, ...request.picture, engineId: run.pictureEngineId, count: 1 },
      {
        signal: deadline.signal,
        origin: { ...originOf(call), stealth },
        async keep(source, mimeType) {
          const draft = await files.receive(source, mimeType)
          run.drafts.push(draft)
          return draft
        },
      },
    )
    const { engineId, free } = made
    const tokens = { promptTokens: 0, completionTokens: 0 }
    run.pictures = made.pictures.flatMap((one) =>
      one ? [stealth ? { ...one, about: { ...one.about, prompt: null } } : one] : [],
    )
    const content = captionFor(captionOf(prompt), changes, free)
    if (run.write) await shown(run, run.write, content)
    return {
      engineId: run.engineId,
      free,
      ...tokens,
      content,
      finish: 'stop',
      fallbackUsed: engineId !== run.pictureEngineId,
      ttftMs: null,
      turns: [{ engineId, free, ...tokens, images: run.pictures.length }],
      toolUses: [],
      toolCalls: [],
      warnings: [],
    }
  }
}

/** Shows the caption of a stream, as far as no rule objects to it. */
async function shown(run: Run, write: Write, text: string): Promise<void> {
  run.held = holdBackOf(run)
  try {
    await show(run, write, { type: 'text', text })
  } catch (error) {
    if (error !== BLOCKED) throw error
  }
}

function captionFor(caption: string, changes: readonly string[], isLocal: boolean): string {
  const shown = `“${caption}”${changes.length ? `, changed as you asked` : ''}`
  return isLocal ? `A local illustration of ${shown}, drawn by rules without an image model.` : `Here is ${shown}.`
}
