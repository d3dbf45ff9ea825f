import { describe, expect, test } from 'bun:test'
import { createBrowsingWorld, hasChromium, serveSite, startSession } from './support'

const attachment =
  (body: BodyInit, name: string, type = 'application/octet-stream') =>
  () =>
    new Response(body, { headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` } })

describe.skipIf(!hasChromium)('downloads of a session', async () => {
  const file = (name: string) => Bun.file(new URL(`./pages/${name}`, import.meta.url))
  const csv = await file('prices.csv').bytes()
  const { promise: slow, resolve: finish } = Promise.withResolvers<void>()
  const endless = () => {
    const piece = new Uint8Array(1024 ** 2)
    return attachment(new ReadableStream({ pull: (to) => to.enqueue(piece) }), 'endless.bin')()
  }
  const site = serveSite({
    '/press.html': await file('press.html').text(),
    '/attachment/prices.csv': attachment(csv, 'prices.csv', 'text/csv'),
    '/picture': attachment(
      Bun.gunzipSync(Bun.gzipSync(Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACADs=', 'base64'))),
      '../../a photo.csv',
      'text/csv',
    ),
    '/endless': endless,
    '/slow': async () => {
      await slow
      return attachment('late', 'late.txt')()
    },
    '/more': `<title>More</title><a href="/attachment/prices.csv" target="_blank">In a new tab</a>
<a download="made.txt" href="data:text/plain,made%20here">From the page</a><a href="/endless">Endless</a><a href="/picture">Picture</a>
<button onclick="for (let i = 0; i < 14; i++) { const a = document.createElement('a'); a.href = 'data:text/plain,' + i; a.download = i + '.txt'; a.click() }">Many</button>`,
  })
  const world = await createBrowsingWorld()
  const person = await world.person()
  const bytesOf = async ({ url }: { url: string }) => new Uint8Array(await (await world.download(url)).arrayBuffer())

  test('a click on one says what came, and keeps the file', async () => {
    const session = await startSession(person, { url: site.url('/press.html') })
    const { status, result } = await session.act('click Download the price list')
    expect(status).toBe('success')
    expect(result.url).toBe(site.url('/press.html'))
    expect(result.downloads).toMatchObject([
      { filename: 'prices.csv', url: site.url('/attachment/prices.csv'), size_bytes: csv.length, problem: null },
    ])
    const [{ artifact }] = result.downloads
    expect(artifact).toMatchObject({ filename: 'prices.csv', mime_type: 'text/csv', type: 'file' })
    expect(await bytesOf(artifact)).toEqual(csv)
    expect((await person.send('GET', `artifacts/${artifact.id}`)).body).toMatchObject({ id: artifact.id })
    expect((await session.act('scroll down')).result.downloads).toBeUndefined()
  })

  test('by a navigation, a new tab and the page itself; the bytes tell the type and the name loses its folders', async () => {
    const session = await startSession(person, { url: site.url('/more') })
    const gone = await session.go(site.url('/attachment/prices.csv'))
    expect(gone).toMatchObject({ status: 'success', result: { url: site.url('/more'), status: 200 } })
    expect(gone.result.downloads).toMatchObject([{ filename: 'prices.csv', problem: null }])
    const tab = (await session.act('click In a new tab')).result
    expect(tab.downloads).toMatchObject([{ filename: 'prices.csv', artifact: { size_bytes: csv.length } }])
    const made = (await session.act('click From the page')).result.downloads[0]
    expect(new TextDecoder().decode(await bytesOf(made.artifact))).toBe('made here')
    const { artifact } = (await session.act('click Picture')).result.downloads[0]
    expect(artifact.mime_type).toBe('image/gif')
    expect(artifact.filename).not.toMatch(/[/\\]|\.csv$/)
  })

  test('too large, too many, and no room: said, and the action is no failure', async () => {
    const session = await startSession(person, { url: site.url('/more') })
    const large = (await session.act('click Endless')).result
    expect(large.downloads).toMatchObject([{ filename: 'endless.bin', artifact: null }])
    expect(large.downloads[0].problem).toContain('100 MB')
    const many = (await session.act('click Many')).result.downloads
    const remaining = many.filter(({ artifact }: { artifact: object | null }) => artifact !== null)
    expect(remaining.length).toBeGreaterThan(0)
    expect(remaining.length).toBeLessThanOrEqual(10)
    await session.end()

    const small = await createBrowsingWorld({ config: { filesOwnerCount: 1 } })
    const full = await startSession(await small.person(), { url: site.url('/press.html'), record: false })
    expect((await full.act('click Download the price list')).result.downloads).toMatchObject([{ problem: null }])
    const second = await full.act('click Download the price list')
    expect(second).toMatchObject({ status: 'success', result: { downloads: [{ artifact: null }] } })
    expect(second.result.downloads[0].problem).toContain('This account has 1 files')
  })

  test('one that is slow to come is waited for', async () => {
    const session = await startSession(person, { url: site.url('/more') })
    const going = session.go(site.url('/slow'))
    finish()
    expect((await going).result.downloads).toMatchObject([{ filename: 'late.txt', size_bytes: 4 }])
  })

  test('a navigation answers the status of the page', async () => {
    const session = await startSession(person, { url: site.url('/press.html') })
    expect((await session.go(site.url('/no-such-page.html'))).result).toMatchObject({ status: 404 })
    expect((await session.go(site.url('/press.html'))).result).toMatchObject({ status: 200, title: 'Seed shop' })
    expect((await session.go(site.url('/press.html#bag'))).result).toMatchObject({ status: null })
  })
})
