import { expect, test } from 'bun:test'
import { fakeClock } from '../support/clock'
import { PIXEL } from '../support/pixel'
import { createWidgetWorld } from './world'

const clock = fakeClock()
const world = await createWidgetWorld({ clock, config: { filesOwnerCount: 2 } })
const { widget, begin, asVisitor, transcript } = world
const picture = (data: string, mime = 'image/png') => ({ type: 'image_base64', data, mime_type: mime })
const base64 = (text: string) => Buffer.from(text).toString('base64')

test('a picture of a visitor is kept with their message, and opened by the person who answers (O7, O10, O11)', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  const message = await asVisitor(chat)('POST', '/messages', {
    content: 'It arrived broken.',
    attachments: [picture(PIXEL)],
  })
  expect(message.status).toBe(200)
  expect(message.body.message.artifacts).toHaveLength(1)
  const [row] = (await transcript(owner, chat)('GET')).body.messages
  const opened = await world.app.api.handle(new Request(new URL(row.artifacts[0].url, 'http://localhost')))
  expect(opened.status).toBe(200)
  expect(opened.headers.get('content-type')).toBe('image/png')
  expect(opened.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await new Bun.Image(await opened.arrayBuffer()).metadata()).toEqual({ width: 1, height: 1, format: 'png' })
  // The visitor has it back after a reload, also once the first link has ended; nobody has it without a signature.
  clock.advance(2 * 3_600_000)
  const openedAt = async (link: string) =>
    (await world.app.api.handle(new Request(new URL(link, 'http://localhost')))).status
  const [again] = (await asVisitor(chat)('GET', '')).body.messages
  expect(await openedAt(row.artifacts[0].url)).toBe(404)
  expect(await openedAt(again.artifacts[0].url)).toBe(200)
  const stranger = await world.person()
  const artifact = row.artifacts[0].id
  expect((await stranger.send('GET', `artifacts/${artifact}`)).status).toBe(404)
})

test('a photograph of a visitor stands upright, and leaves where it was taken behind (O17)', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  const photo = Buffer.from(await new Bun.Image(Buffer.from(PIXEL, 'base64')).resize(16, 8).jpeg().bytes())
  // One entry of a camera: it was held upright, so what is stored lies on its side.
  const turned = Buffer.from('4d4d002a00000008000101120003000000010006000000000000', 'hex')
  const place = Buffer.concat([Buffer.from('Exif\0\0'), turned, Buffer.from('GPSLatitude 52.5200N')])
  const marker = Buffer.from([0xff, 0xe1, 0, place.length + 2])
  const notice = Buffer.concat([photo.subarray(0, 2), marker, place, photo.subarray(2)])
  const attachments = [picture(notice.toString('base64'), 'image/jpeg')]
  expect((await asVisitor(chat)('POST', '/messages', { content: 'Look', attachments })).status).toBe(200)
  const [row] = (await transcript(owner, chat)('GET')).body.messages
  const opened = await world.app.api.handle(new Request(new URL(row.artifacts[0].url, 'http://localhost')))
  const bytes = Buffer.from(await opened.arrayBuffer())
  expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 8, height: 16, format: 'jpeg' })
  for (const word of ['Exif', 'GPSLatitude'])
    expect({ word, hasWord: bytes.includes(word) }).toEqual({ word, hasWord: false })
})

test('what is no picture, and what a widget does not take, is refused and nothing of it is kept (O5)', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
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
    expect({ what, status, param: body.error?.param?.split('[')[0] }).toEqual({
      what,
      status: 400,
      param: 'attachments',
    })
  }
  const { status, body } = await asVisitor(await begin((await widget()).id))('POST', '/messages', {
    content: 'Look',
    attachments: [picture(PIXEL)],
  })
  expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'attachments' })
  expect((await transcript(owner, chat)('GET')).body.message_count).toBe(0)
})

test('a picture of more pixels than can be drawn is refused before it is (O8)', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  // The head of a picture of 60,000 by 60,000 pixels.
  const wide = Buffer.from(PIXEL, 'base64')
  wide.writeUInt32BE(60_000, 16)
  wide.writeUInt32BE(60_000, 20)
  wide.writeUInt32BE(Bun.hash.crc32(wide.subarray(12, 29)), 29)
  const attachments = [picture(wide.toString('base64'))]
  expect((await asVisitor(chat)('POST', '/messages', { content: 'Look', attachments })).status).toBe(400)
})

test('where the owner keeps as much as they may, the visitor hears that, and not how much (O14)', async () => {
  const { owner, id } = await widget({ behavior: { enableFileUpload: true } })
  const chat = await begin(id)
  await transcript(owner, chat)('POST', '/takeover')
  const look = () => asVisitor(chat)('POST', '/messages', { content: 'Look', attachments: [picture(PIXEL)] })
  const tried = [await look(), await look(), await look()]
  expect(tried.map(({ status }) => status)).toEqual([200, 200, 503])
  expect(tried[2]!.body.error.message).toBe('Pictures cannot be stored right now. Send the message without them.')
  expect((await transcript(owner, chat)('GET')).body.message_count).toBe(2)
})
