import { describe, expect, test } from 'bun:test'
import { pathOf, storedIn } from '../files/support'
import { fakeClock } from '../support/clock'
import { createWorld, type Person } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })

/** The PNG behind a link, decoded by the runtime. */
async function decoded(person: Person, url: string) {
  const response = await world.download(url)
  const bytes = await response.arrayBuffer()
  return { ...(await new Bun.Image(bytes).metadata()), bytes: Buffer.from(bytes), headers: response.headers, person }
}

describe('POST /images without an image engine (docs/api.md 6)', () => {
  test('draws a picture that another program opens, free and labelled as what it is', async () => {
    const ada = await world.person({ cents: 5 })
    const { status, body } = await ada.send('POST', 'images', { prompt: 'A lighthouse by the sea' })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^img_[0-9A-Za-z]{24}$/),
      object: 'image',
      created: expect.any(String),
      images: [
        {
          url: expect.any(String),
          engine: 'svc-local-vector',
          model: 'svc-1-create',
          prompt: 'A lighthouse by the sea',
          artifact_id: expect.stringMatching(/^art_/),
        },
      ],
      usage: { cost_cents: 0 },
      request_id: expect.any(String),
    })
    const picture = await decoded(ada, body.images[0].url)
    expect(picture).toMatchObject({ width: 1152, height: 864, format: 'png' })
    const text = picture.bytes.toString('latin1')
    for (const label of ['svc local illustration', 'Not a photograph', 'algorithmicMedia'])
      expect(text).toContain(label)
    expect(text).not.toContain('ighthouse')
    const artifact = (await ada.send('GET', `artifacts/${body.images[0].artifact_id}`)).body
    expect(artifact).toMatchObject({ type: 'image', title: 'Local illustration', width: 1152, height: 864 })
  })

  test.each(['jpeg', 'webp'] as const)('says so as %s too, in a file that is still a picture', async (format) => {
    const ada = await world.person({ cents: 5 })
    const order = { prompt: 'A lighthouse by the sea', output_format: format }
    const { body } = await ada.send('POST', 'images/generations', order)
    const picture = await decoded(ada, body.data[0].url)
    expect(picture).toMatchObject({ width: 1152, height: 864, format })
    const text = picture.bytes.toString('latin1')
    for (const label of ['svc local illustration', 'Not a photograph', 'algorithmicMedia'])
      expect(text).toContain(label)
    expect(text).not.toContain('ighthouse')
    expect((await new Bun.Image(picture.bytes).png().bytes()).length).toBeGreaterThan(10_000)
  })

  test('the stored prompt is the input with a sentence of style and one of aspect ratio', async () => {
    const ada = await world.person()
    const input = { prompt: 'a cat', style: 'pastel', aspect_ratio: '16:9', count: 3, image_quality: 'draft' }
    const { images } = (await ada.send('POST', 'images', input)).body
    expect(images).toHaveLength(3)
    const [one, two, three] = await Promise.all(images.map(({ url }: { url: string }) => decoded(ada, url)))
    for (const { prompt } of images) expect(prompt).toBe('a cat. Style: pastel. Aspect ratio: 16:9.')
    expect(one).toMatchObject({ width: 672, height: 378 })
    expect(new Set([one, two, three].map(({ bytes }) => Bun.hash(bytes))).size).toBe(3)
  })

  test('one prompt always gives one picture', async () => {
    const ada = await world.person()
    const ask = async () => (await ada.send('POST', 'images', { prompt: 'a robot and a cup of coffee' })).body
    const [first, second] = [await ask(), await ask()]
    const bytes = await Promise.all([first, second].map(({ images }) => decoded(ada, images[0].url)))
    expect(bytes[0]!.bytes.equals(bytes[1]!.bytes)).toBe(true)
  })

  test('a retry with its key is answered as before, and makes nothing again', async () => {
    const ada = await world.person()
    const send = () => ada.send('POST', 'images', { prompt: 'a boat' }, { 'idempotency-key': 'boat-1' })
    const first = await send()
    const stored = storedIn(world.folder).length
    const second = await send()
    expect(second.text).toBe(first.text)
    expect(second.headers.get('x-idempotent-replay')).toBe('true')
    expect(storedIn(world.folder)).toHaveLength(stored)
  })

  test('it is recorded and counted in the group of pictures', async () => {
    const ada = await world.person({ tier: 'free' })
    const { headers } = await ada.send('POST', 'images', { prompt: 'a private garden', count: 2 })
    const [row] = (await ada.send('GET', `audit?request_id=${headers.get('x-request-id')}`)).body
    expect(row).toMatchObject({
      action: 'image.created',
      entityType: 'image',
      outputSummary: { status: 200, cost_cents: 0 },
    })
    expect(JSON.stringify(row)).not.toContain('garden')
    expect((await ada.send('GET', 'rate-limits')).body.usage.modes.image).toMatchObject({ limit: 20, remaining: 19 })
  })
})

describe('what is refused', () => {
  const refusals: [string, object, string, string | null][] = [
    ['no prompt', {}, 'missing_prompt', 'prompt'],
    ['a blank prompt', { prompt: ' \n' }, 'missing_prompt', 'prompt'],
    ['another aspect ratio', { prompt: 'x', aspect_ratio: '21:9' }, 'validation_error', 'aspect_ratio'],
    ['a huge one (S8)', { prompt: 'x', aspect_ratio: '100000:100000' }, 'validation_error', 'aspect_ratio'],
    ['five pictures', { prompt: 'x', count: 5 }, 'validation_error', 'count'],
    ['no picture', { prompt: 'x', count: 0 }, 'validation_error', 'count'],
    ['an engine of text', { prompt: 'x', image_model: 'svc-1-flash' }, 'validation_error', 'image_model'],
    ['another quality', { prompt: 'x', image_quality: '8k' }, 'validation_error', 'image_quality'],
    ['a style that is a novel', { prompt: 'x', style: 'y'.repeat(201) }, 'validation_error', 'style'],
  ]
  test.each(refusals)('%s is 400', async (_, input, code, param) => {
    const { status, body } = await (await world.person()).send('POST', 'images', input)
    expect({ status, code: body.error.code, param: body.error.param }).toEqual({ status: 400, code, param })
  })

  test('402 without credit, before any work', async () => {
    const poor = await world.person({ cents: 0 })
    const stored = storedIn(world.folder).length
    const { status, body } = await poor.send('POST', 'images', { prompt: 'a cat' })
    expect({ status, code: body.error.code }).toEqual({ status: 402, code: 'insufficient_credits' })
    expect(storedIn(world.folder)).toHaveLength(stored)
  })
})

describe('POST /images/generations (docs/api.md 28.1)', () => {
  test('a link by default, bytes on request, in the size that was asked for', async () => {
    const ada = await world.person()
    const linked = await ada.send('POST', 'images/generations', { prompt: 'a fox', model: 'dall-e-3', user: 'u1' })
    expect(linked.body).toMatchObject({ created: Math.floor(clock.now() / 1_000), usage: { cost_cents: 0 } })
    expect(linked.body.data).toEqual([{ url: expect.any(String), revised_prompt: 'a fox' }])
    expect(pathOf(linked.body.data[0].url)).toStartWith('/files/')
    const input = { prompt: 'a fox', n: 2, size: '1536x1024', response_format: 'b64_json', quality: 'auto' }
    const { data } = (await ada.send('POST', 'images/generations', input)).body
    expect(data).toHaveLength(2)
    const image = new Bun.Image(Buffer.from(data[1].b64_json, 'base64'))
    expect(await image.metadata()).toMatchObject({ width: 1536, height: 1024 })
  })

  test.each([
    ['a size of another server (S8)', { prompt: 'x', size: '100000x100000' }],
    ['too many', { prompt: 'x', n: 5 }],
    ['a long prompt', { prompt: 'x'.repeat(4_001) }],
    ['none', {}],
    ['a format of no kind', { prompt: 'x', response_format: 'png' }],
  ])('%s is 400', async (_, input) => {
    expect((await (await world.person()).send('POST', 'images/generations', input)).status).toBe(400)
  })
})
