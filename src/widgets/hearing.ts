import type { Clock } from '../kernel/clock'
import type { Tx } from '../kernel/store'
import type { Asking } from './asking'
import type { Desk } from './desk'
import { isClosed } from './errors'
import { asksForPerson } from './intents'
import type { createLimits } from './limits'
import { subjectOf } from './operators'
import type { createPictures, Kept } from './pictures'
import { sessionRepository as rows } from './repository'
import type { MessageRow, SessionRow, WidgetRow } from './table'

type Deps = {
  clock: Clock
  desk: Desk
  ask: Asking
  limits: ReturnType<typeof createLimits>
  pictures: ReturnType<typeof createPictures>
}
type Saying = { widget: WidgetRow; session: SessionRow; content: string; drafts: readonly Kept[] }
/** A message that is stored, and what the visitor is told instead of an answer. */
type Heard = { message: MessageRow; session: SessionRow; fence: number; told: MessageRow | null }

/** What a visitor says comes in: in one unit it is counted, stored, and read for whether it asks for a person. */
export function createHearing({ clock, desk, ask, limits, pictures }: Deps) {
  return async function hear(tx: Tx, { widget, session: known, content, drafts }: Saying): Promise<Heard> {
    const { id, ip_hash } = known
    const takeover = await desk.chats.lock(tx, subjectOf(known))
    const session = await rows.lock(tx, id)
    if (session?.status !== 'open') throw isClosed()
    const { fence } = takeover
    const [last] = await rows.last(tx, id, 1)
    if (last?.failed && last.content === content && takeover.status !== 'human') {
      await rows.changeMessage(tx, last.id, { failed: false })
      return { message: last, session, fence, told: null }
    }
    await limits.assertMaySay(tx, widget, session, ip_hash, content)
    const artifacts = await pictures.keep(tx, widget, drafts)
    const first = session.first_asked_at === null ? { first_asked_at: clock.now() } : {}
    const said = { role: 'user' as const, content, artifacts, ip_hash }
    const written = await desk.write(tx, session, said, { asked: session.asked + 1, ...first })
    const isAsking = takeover.status === 'ai' && asksForPerson(content, widget.intents)
    if (!isAsking) return { ...written, fence, told: null }
    return { ...(await asked(tx, widget, written)), message: written.message, fence }
  }

  /** What the owner wants done where a visitor asks for a person. */
  async function asked(
    tx: Tx,
    widget: WidgetRow,
    { session, message: said }: { session: SessionRow; message: MessageRow },
  ) {
    const { action, message } = widget.intents
    const isForPeople = action === 'takeover' || action === 'webhook'
    if (isForPeople) await ask(tx, { widget, session, reason: 'The visitor asked for a person.', message: said })
    const words = message || (isForPeople ? 'You asked for a person. Someone will be with you soon.' : '')
    const now = (await rows.lock(tx, session.id))!
    if (!words && action !== 'redirect') return { session: now, told: null }
    const { message: told, session: after } = await desk.write(tx, now, {
      role: 'system',
      content: words || 'Please continue here.',
    })
    return { session: after, told }
  }
}
