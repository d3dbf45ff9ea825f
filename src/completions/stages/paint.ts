import type { Thought } from '../../agent/schema'
import { type MadeImage, originOf } from '../../engines'
import type { Files } from '../../files'
import { ownerOf } from '../../kernel/caller'
import type { Store } from '../../kernel/store'
import { captionOf, type MadePictures, type Pictures, pictureDescribed } from '../../media'
import { isStealth } from '../rules'
import type { Run } from '../run'
import { EMPTY, shown } from './hand-over'

type Deps = { pictures: Pictures; store: Store; files: Pick<Files, 'findRow' | 'read' | 'receive'> }

/** Larger pictures are described to an engine, and not sent. */
const MOST_BASE_BYTES = 20 * 1024 * 1024

/** The prompts before this one whose answers were pictures, oldest first. */
const picturedIn = ({ history }: Pick<Run, 'history'>): string[] =>
  history.flatMap((turn) => (turn.pictured && typeof turn.content === 'string' ? [turn.content] : []))

/** Answers with a picture: a new one, or the one before it changed (contract 2.2). Throws what image engines throw. */
export function createPaint({ pictures, store, files }: Deps) {
  return paint

  async function paint(run: Run): Promise<Thought> {
    const { request, call, deadline } = run
    const { prompt, changes } = pictureDescribed(request.prompt, picturedIn(run))
    const stealth = isStealth(request.mode)
    const made = await pictures(
      {
        prompt,
        changes,
        base: changes.length ? await pictureBefore(run) : null,
        ...request.picture,
        engineId: run.pictureEngineId,
        count: 1,
      },
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
    const content = captionFor(captionOf(prompt), changes, made)
    return shown(run, {
      ...EMPTY,
      engineId: run.engineId,
      free,
      content,
      fallbackUsed: engineId !== run.pictureEngineId,
      turns: [{ engineId, free, ...tokens, images: run.pictures.length }],
    })
  }

  /** The picture that is to change, if the conversation has it; the caller's own. */
  async function pictureBefore({ history, call }: Run): Promise<MadeImage | null> {
    const id = history.findLast(({ pictured }) => pictured)?.pictureId
    const row = id ? await files.findRow(store.read, ownerOf(call.caller), id) : undefined
    if (row?.type !== 'image' || row.size_bytes > MOST_BASE_BYTES) return null
    return { bytes: new Uint8Array(await new Response(await files.read(row)).arrayBuffer()), mimeType: row.mime_type }
  }
}

function captionFor(caption: string, changes: readonly string[], { free, unknown }: MadePictures): string {
  const shown = `“${caption}”${changes.length ? `, changed as you asked` : ''}`
  if (!free) return `Here is ${shown}.`
  const drawn = `A local illustration of ${shown}, drawn by rules without an image model.`
  return unknown.length ? `${drawn} It has no picture of: ${unknown.join(', ')}.` : drawn
}
