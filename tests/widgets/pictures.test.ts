import { expect, test } from 'bun:test'
import { createWidgetWorld } from './world'

const world = await createWidgetWorld()
const { widget, begin, asVisitor, desk } = world
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const picture = (data: string, mime = 'image/png') => ({ type: 'image_base64', data, mime_type: mime })
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('a picture of a visitor is kept with their message, and opened by the person who answers', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await desk(owner, chat)('POST', '/takeover')
  const said = await asVisitor(chat)('POST', '/messages', {
    content: 'It arrived broken.',
    attachments: [picture(PIXEL)],
  })
  expect([said.status, said.body.message.artifacts.length]).toEqual([200, 1])
  const [row] = (await desk(owner, chat)('GET')).body.messages
  const opened = await world.app.api.handle(new Request(new URL(row.artifacts[0].url, 'http://localhost')))
  expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(opened.headers.get('x-content-type-options')).toBe('nosniff')
  expect(Buffer.from(await opened.arrayBuffer()).toString('base64')).toBe(PIXEL)
  // The visitor has it back after a reload, and nobody without the link's signature.
  expect((await asVisitor(chat)('GET', '')).body.messages[0].artifacts).toHaveLength(1)
  const stranger = await world.person()
  const artifact = row.artifacts[0].id
  expect((await stranger.send('GET', `artifacts/${artifact}`)).status).toBe(404)
})

test('what is no picture, and what a widget does not take, is refused and nothing of it is kept (O5)', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await desk(owner, chat)('POST', '/takeover')
  for (const [what, attachment] of [
    ['a page', picture(base64('<html><script>1</script>'))],
    [
      'a drawing with a script',
      picture(base64('<svg xmlns="http://www.w3.org/2000/svg" onload="1"/>'), 'image/svg+xml'),
    ],
    ['a program', picture(base64('MZ\x90\x00\x03'))],
    ['nothing', picture('')],
    ['no base64', picture('%%%')],
    ['an address', { type: 'image_url', url: 'https://shop.example/a.png' }],
  ] as const) {
    const { status, body } = await asVisitor(chat)('POST', '/messages', { content: 'Look', attachments: [attachment] })
    expect([what, status, body.error?.param?.split('[')[0]]).toEqual([what, 400, 'attachments'])
  }
  const closed = await begin((await widget()).id)
  const { status, body } = await asVisitor(closed)('POST', '/messages', {
    content: 'Look',
    attachments: [picture(PIXEL)],
  })
  expect([status, body.error.param]).toEqual([400, 'attachments'])
  expect((await desk(owner, chat)('GET')).body.message_count).toBe(0)
})
