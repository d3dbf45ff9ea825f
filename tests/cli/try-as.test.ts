// SQLite only: a client of routes that tests of their modules call on both.
import { expect, test } from 'bun:test'
import { FORMAT_NAMES, FORMATS } from '../../cli/commands/try'
import { soundUpstream } from '../media/audio/support'
import { cliOver } from '../support/cli'
import { createWorld } from '../support/world'

const world = await createWorld()
const run = cliOver(world)
const { key } = await world.person()

const SPOKEN = FORMAT_NAMES.filter((name) => !('mode' in FORMATS[name]))

test('try --as images shows an address, and --as moderations what is flagged', async () => {
  const image = await run(['try', 'A lighthouse', '--as', 'images'], { key })
  expect({ exitCode: image.exitCode, stdout: image.stdout.trim() }).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^https?:\/\/\S+$/),
  })
  expect(image.stderr).toContain('model svc-1-create (svc-1-create)  mode image  0.00¢')
  const threat = 'I will find you tonight and beat you until you cannot walk, you worthless piece of trash.'
  const flagged = await run(['try', threat, '--as', 'moderations'], { key })
  expect(flagged.stdout).toMatch(/^flagged: \w/)
  expect(flagged.stderr).toContain('mode moderation  0.00¢')
  expect((await run(['try', 'Good morning', '--as', 'moderations'], { key })).stdout.trim()).toBe('not flagged')
})

test('try --as speech tells how long the sound is, and its cost', async () => {
  const sound = soundUpstream(new Uint8Array(await Bun.file('tests/media/audio/tone.mp3').arrayBuffer()))
  const upstreams = { sound: { kind: 'compat' as const, baseUrl: sound.url } }
  const speaking = await createWorld({ config: { engines: { upstreams, models: { 'svc-1-voice': ['sound:tts'] } } } })
  const person = await speaking.person({ cents: 100 })
  const { stdout, stderr } = await cliOver(speaking)(['try', 'The tide comes in.', '--as', 'speech'], person)
  expect(stdout).toMatch(/^[1-9]\d+ bytes of audio\/mpeg\n$/)
  expect(stderr).toMatch(/mode tts {2}0\.0\d*[1-9]¢/)
  expect(stderr).toContain('/v1/audio/speech')
})

test('try --as embeddings shows a vector, and has no stream', async () => {
  const { stdout, stderr, exitCode } = await run(['try', 'Count to three', '--as', 'embeddings'], { key })
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^512 numbers: /) })
  expect(stderr).toContain('/v1/embeddings')
  expect((await run(['try', 'x', '--as', 'embeddings', '--stream'], { key })).exitCode).toBe(2)
})

test.each(SPOKEN)('try asks as a client of %s does, whole and streamed', async (name) => {
  for (const more of [[], ['--stream']]) {
    const { stdout, stderr, exitCode } = await run(['try', 'Count to three', '--as', name, ...more], { key })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'One, two, three.\n' })
    expect(stderr).toContain('mode auto → fast')
    expect(stderr).toMatch(/[1-9]\d* tokens/)
    expect(stderr).toContain('/v1/')
  }
})

test.each(SPOKEN)('try shows the answer of %s as it came, or its events', async (name) => {
  const whole = await run(['try', 'Count to three', '--as', name, '--json'], { key })
  expect(JSON.parse(whole.stdout)).toHaveProperty('svc_metadata')
  const { stdout } = await run(['try', 'Count to three', '--as', name, '--json', '--stream'], { key })
  expect(stdout.trim().split('\n').length).toBeGreaterThan(2)
})

test('try refuses a mode for a format without modes, and says what a format refuses', async () => {
  expect((await run(['try', 'x', '--as', 'chat', '--mode', 'fast'], { key })).exitCode).toBe(2)
  expect((await run(['try', ' ', '--as', 'messages'], { key })).stderr).toContain('messages')
})
