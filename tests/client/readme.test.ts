// SQLite only: the client knows no database.
import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { soundUpstream } from '../media/audio/support'
import { listen } from '../support/listening'
import { temporaryFolder } from '../support/temporary-folder'
import { startPictureServer } from '../support/upstream/pictures'
import { createWorld } from '../support/world'

const ROOT = join(import.meta.dir, '../..')
const painter = startPictureServer()
afterAll(() => painter.stop())
const tone = new Uint8Array(readFileSync(join(ROOT, 'tests/media/audio/tone.mp3')))
const sound = soundUpstream(tone)
const compat = (baseUrl: string) => ({ kind: 'compat' as const, baseUrl })
const upstreams = {
  painter: { ...compat(painter.url), imageEdits: true },
  sound: { ...compat(sound.url), translates: true },
}
const models = {
  'svc-1-create': ['painter:gpt-image-1'],
  'svc-1-voice': ['sound:tts-2'],
  'svc-1-transcribe': ['sound:whisper-9'],
}
const world = await createWorld({ config: { engines: { upstreams, models } } })
const { origin } = listen(world)
const person = await world.person({ tier: 'enterprise', cents: 1_000 })
const folder = temporaryFolder('svc-client-readme-')

const text = readFileSync(join(ROOT, 'client/README.md'), 'utf8')
const examples = [...text.matchAll(/^## (.+)\n[^#]*?```ts\n([\s\S]*?)```/gm)].map(
  ([, title, code]) => [title!, code!] as const,
)
const setUp = /```ts\n([\s\S]*?)```/.exec(text)![1]!

describe('the README of the client', () => {
  test('has an example of every door', () => {
    const named = [
      'complete',
      'chat',
      'responses',
      'messages',
      'embed',
      'moderate',
      'images',
      'audio',
      'files',
      'batches',
    ]
    for (const name of named) expect({ name, shown: text.includes(`svc.${name}`) }).toEqual({ name, shown: true })
    expect(examples.length).toBeGreaterThan(9)
  })

  test.each(examples)('%s: runs as pasted', async (title, code) => {
    const file = join(folder, `${title.toLowerCase().replaceAll(/\W+/g, '-')}.ts`)
    const source = `${setUp}${code}`
      .replace("'svc/client'", `'${ROOT}/client/index.ts'`)
      .replace('http://127.0.0.1:3400', origin)
    writeFileSync(file, source)
    process.env.SVC_API_KEY = person.key
    const batches = setInterval(() => void world.app.container.jobs.runDue('batch'), 100)
    try {
      expect(await import(file)).toBeDefined()
    } finally {
      clearInterval(batches)
      delete process.env.SVC_API_KEY
    }
  })
})
