import { and, asc, eq, sql } from 'drizzle-orm'
import type { Draft, Files } from '../files'
import type { ArtifactId } from '../files/schema'
import type { Reader, Tx } from '../kernel/store'
import { shorten } from '../kernel/text'
import type { OpenSession } from './host'
import { within } from './live'
import type { BrowserSessionId } from './schema'
import { type ActionRow, browserActions } from './table'

/** Contract 28.3. */
const MAX_FRAMES = 500
const MAX_FRAME_BYTES = 60 * 1024
const MAX_INPUT = 1_000
const FRAME = { maxWidth: 960 }

/** What is kept of an action, besides its moment. */
export type Deed = Pick<ActionRow, 'actor' | 'tool' | 'target' | 'ok'> & { input: string; result: string; url: string }

type Deps = { files: Pick<Files, 'receive' | 'add' | 'discard'> }

/** Keeps what is done in sessions, each with a small picture of what the page showed then (contract 28.3). */
export function createRecorder({ files }: Deps) {
  return { picture, keep }

  /** A picture of the page in front, of 60 KB at most; null for a session that keeps none. */
  async function picture(session: OpenSession): Promise<Draft | null> {
    if (!session.recorded || session.frames >= MAX_FRAMES) return null
    const bytes = await within(smallPicture(session), null, 3_000)
    if (!bytes) return null
    session.frames += 1
    return files.receive(bytes, 'image/jpeg')
  }

  /** Adds an action to the record of a session, in the transaction that it commits with. */
  async function keep(
    tx: Tx,
    session: Pick<OpenSession, 'id' | 'owner' | 'recorded'>,
    at: number,
    deed: Deed,
    draft: Draft | null,
  ) {
    if (!session.recorded) return
    const about = { type: 'image' as const, filename: 'frame.jpg', engine: 'svc-core', model: 'svc-1-browser' }
    const frame = draft ? (await files.add(tx, session.owner, draft, about)).id : null
    await tx.insert(tx.of(browserActions)).values({
      session_id: session.id,
      owner: session.owner,
      at,
      ...deed,
      input: shorten(deed.input, MAX_INPUT),
      result: shorten(deed.result, MAX_INPUT),
      frame: frame as ArtifactId | null,
    } as never)
  }
}

export type Recorder = ReturnType<typeof createRecorder>

/** What was done in a session, oldest first. */
export function actionsOf(reader: Reader, owner: string, id: BrowserSessionId, limit = 2_000): Promise<ActionRow[]> {
  const t = reader.of(browserActions)
  const own = and(eq(t.session_id, id), sql`${t.owner} = ${owner}`)
  return reader.select().from(t).where(own).orderBy(asc(t.id)).limit(limit) as Promise<ActionRow[]>
}

/** Coarser until it is small enough. */
async function smallPicture({ live }: OpenSession): Promise<Uint8Array | null> {
  const page = live.page()
  const { width = 1280, height = 800 } = page.viewport() ?? {}
  for (const [quality, shrink] of [
    [60, 1],
    [35, 1],
    [30, 0.5],
  ] as const) {
    const scale = Math.min(1, FRAME.maxWidth / width) * shrink
    const bytes = await page.screenshot({ type: 'jpeg', quality, clip: { x: 0, y: 0, width, height, scale } })
    if (bytes.length <= MAX_FRAME_BYTES) return bytes
  }
  return null
}
