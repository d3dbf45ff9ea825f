import { expect, test } from 'bun:test'
import { buildAssets, buildConsole } from '../../src/pages'
import { createWorld } from '../support/world'

const world = await createWorld()
const get = (path: string, headers: Record<string, string> = {}) =>
  world.app.api.handle(new Request(`http://localhost${path}`, { headers }))

/** What each file may weigh, packed. */
const BUDGETS: Record<string, number> = {
  embed: 4_096,
  first: 2_500,
  widget: 16_000,
  widgetText: 44_000,
  widgetStyle: 4_000,
  inbox: 12_000,
  inboxStyle: 4_000,
  live: 12_000,
  liveStyle: 2_000,
  player: 3_000,
  reference: 8_000,
  viewer: 1_000,
  link: 500,
}

test('the files of the pages are as small as they must be', async () => {
  const weights = Object.entries(await buildAssets()).map(([name, text]) => [name, Bun.gzipSync(text).length] as const)
  expect(weights.filter(([name, weight]) => weight > (BUDGETS[name] ?? 0))).toEqual([])
})

test('a page with the chat loads at most 12 KB, and the chat itself 60 KB', async () => {
  const { embed, first, widget, widgetText, widgetStyle } = await buildAssets()
  const packed = (...texts: string[]) => texts.reduce((bytes, text) => bytes + Bun.gzipSync(text).length, 0)
  expect(packed(embed)).toBeLessThan(12 * 1024)
  expect(packed(first, widget, widgetText, widgetStyle)).toBeLessThan(60 * 1024)
})

test('until they are ready the chat needs at most 25 KB and the live view 15 KB', async () => {
  const built = await buildAssets()
  const packed = (...names: (keyof typeof built)[]) =>
    names.reduce((bytes, name) => bytes + Bun.gzipSync(built[name]).length, 0)
  expect(packed('first', 'widget', 'widgetStyle')).toBeLessThan(25 * 1024)
  expect(packed('live', 'liveStyle')).toBeLessThan(15 * 1024)
})

test('the console is as light as it must be', async () => {
  const { files, script, style, parts } = await buildConsole()
  const weigh = (names: string[]) =>
    names.reduce((bytes, name) => bytes + Buffer.from(files[name]!.brotli, 'base64').length, 0)
  const shell = [script, style]
  expect(weigh(shell)).toBeLessThan(120 * 1024)
  const named = (name: string) => Object.keys(files).filter((file) => file.startsWith(`${name}-`))
  for (const [section, names] of Object.entries(parts)) {
    // The menus of the top bar come with the first page too.
    const first = [...shell, ...names, ...named('menus')]
    expect(names.some((name) => name.startsWith('chart-'))).toBe(section === 'overview')
    expect({ section, isLight: weigh(first) < 180 * 1024 }).toEqual({ section, isLight: true })
    expect({ section, isLight: weigh(names.slice(0, 1)) < 40 * 1024 }).toEqual({ section, isLight: true })
  }
  expect(weigh(Object.keys(files))).toBeLessThan(600 * 1024)
})

test('files of the console are kept for ever by their hash, and sent as Brotli to who takes it', async () => {
  const { style } = await world.app.container.consoleAssets()
  const answer = await get(`/console/assets/${style}`, { 'accept-encoding': 'gzip, br' })
  expect(answer.headers.get('content-encoding')).toBe('br')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const gone = await get('/console/assets/console-00000000.css')
  expect({ status: gone.status, cache: gone.headers.get('cache-control') }).toEqual({ status: 404, cache: 'no-store' })
})

test('the loader is served to every page, packed for those that take it so, and names no other address', async () => {
  const plain = await get('/embed.js')
  expect(plain.status).toBe(200)
  expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect(plain.headers.get('cache-control')).toBe('public, max-age=600')
  expect(plain.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  const text = await plain.text()
  expect(text).not.toMatch(/https?:\/\//)
  const packed = await get('/embed.js', { 'accept-encoding': 'gzip, br' })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer())))).toBe(text)
})

test('the icon that browsers ask for beside every page is there', async () => {
  const icon = await get('/favicon.ico')
  expect(icon.status).toBe(200)
  expect(icon.headers.get('content-type')).toBe('image/svg+xml')
  expect(await icon.text()).toStartWith('<svg ')
})

test('a file that is not one of ours is not there', async () => {
  for (const path of ['/assets/none.js', '/assets/..%2f..%2fpackage.json', '/assets/__proto__'])
    expect((await get(path)).status).toBe(404)
})
