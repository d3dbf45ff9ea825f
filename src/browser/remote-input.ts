import type { KeyInput } from 'puppeteer-core'
import { checker, oneOf, type Static, t } from '../kernel/schema'
import { clickOn } from './find-element'
import type { OpenSession } from './host'
import { kindOfField, selectAll } from './in-page'
import { within } from './live'
import { readTree } from './tree'

const number = t.Number({ minimum: -20_000, maximum: 20_000 })
const point = { x: number, y: number }

/** All messages that a viewer may send. Any other message closes its connection (catalogue N). */
const MESSAGES = t.Union([
  t.Object({ type: t.Literal('ack') }),
  t.Object({
    type: t.Literal('mouse'),
    kind: oneOf(['move', 'down', 'up'] as const),
    ...point,
    button: oneOf(['left', 'middle', 'right'] as const),
  }),
  t.Object({ type: t.Literal('wheel'), ...point, dx: number, dy: number }),
  t.Object({
    type: t.Literal('key'),
    kind: oneOf(['down', 'up'] as const),
    key: t.String({ minLength: 1, maxLength: 20 }),
  }),
  t.Object({ type: t.Literal('text'), text: t.String({ maxLength: 10_000 }) }),
  t.Object({ type: oneOf(['back', 'forward', 'reload', 'take', 'release', 'tree', 'refresh'] as const) }),
  t.Object({ type: t.Literal('tab'), id: t.String({ maxLength: 20 }) }),
  t.Object({ type: t.Literal('press'), ref: t.String({ maxLength: 20 }) }),
  t.Object({ type: t.Literal('fill'), ref: t.String({ maxLength: 20 }), text: t.String({ maxLength: 10_000 }) }),
])
const message = checker(MESSAGES)

export type RemoteInputMessage = Static<typeof MESSAGES>

/** Parses a viewer's message. Null for anything that no live view sends. */
export const readMessage = (value: unknown): RemoteInputMessage | null => (message.is(value) ? value : null)

/** Messages that act on the page and therefore need control. */
const OF_REMOTE_INPUT = new Set(['mouse', 'wheel', 'key', 'text', 'back', 'forward', 'reload', 'tab', 'press', 'fill'])
export const needsControl = ({ type }: RemoteInputMessage): boolean => OF_REMOTE_INPUT.has(type)

const WAIT = { waitUntil: 'domcontentloaded', timeout: 10_000 } as const

/** Applies a viewer's input to the page. Returns true when it filled a field that holds a secret. */
export async function useRemoteInput(session: OpenSession, message: RemoteInputMessage): Promise<boolean> {
  if (message.type === 'fill') return fill(session, message)
  await move(session, message)
  return false
}

async function move(session: OpenSession, message: RemoteInputMessage): Promise<void> {
  const { live } = session
  const page = live.page()
  switch (message.type) {
    case 'mouse':
      await page.mouse.move(message.x, message.y)
      if (message.kind === 'down') await page.mouse.down({ button: message.button })
      if (message.kind === 'up') await page.mouse.up({ button: message.button })
      return
    case 'wheel':
      await page.mouse.move(message.x, message.y)
      return page.mouse.wheel({ deltaX: message.dx, deltaY: message.dy })
    case 'key':
      if (message.kind === 'down') await page.keyboard.down(message.key as KeyInput)
      else await page.keyboard.up(message.key as KeyInput)
      return
    case 'text':
      return page.keyboard.sendCharacter(message.text)
    case 'tab': {
      const tab = live.tabs().find((other) => live.idOf(other) === message.id)
      if (tab) await live.show(tab)
      return
    }
    case 'press': {
      const handle = await handleOf(session, message.ref)
      if (handle) await clickOn(handle)
      return
    }
    case 'back':
      return void (await within(page.goBack(WAIT), null, 10_000))
    case 'forward':
      return void (await within(page.goForward(WAIT), null, 10_000))
    case 'reload':
      return void (await within(page.reload(WAIT), null, 10_000))
    default:
  }
}

async function fill(
  session: OpenSession,
  { ref, text }: Extract<RemoteInputMessage, { type: 'fill' }>,
): Promise<boolean> {
  const handle = await handleOf(session, ref)
  if (!handle) return true
  const { keyboard } = session.live.page()
  const kind = await handle.evaluate(kindOfField)
  await handle.focus()
  await handle.evaluate(selectAll)
  if (text) await keyboard.sendCharacter(text)
  else await keyboard.press('Delete')
  return kind === 'password'
}

/** The element that a viewer of the text view selected, if it is still on the page. */
async function handleOf({ live, refs }: OpenSession, wanted: string) {
  const element = (await readTree(live.page(), refs)).find(({ ref }) => ref === wanted)
  return (await element?.handle()) ?? null
}
