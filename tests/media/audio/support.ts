import { afterAll } from 'bun:test'
import type { Person, World } from '../../support/world'

/** One second of a tone as WAV: mono, 16 bits, 16 kHz. */
export function toneWav(seconds: number, hertz = 440): Uint8Array<ArrayBuffer> {
  const rate = 16_000
  const samples = Math.round(seconds * rate)
  const bytes = Buffer.alloc(44 + samples * 2)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(36 + samples * 2, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(rate, 24)
  bytes.writeUInt32LE(rate * 2, 28)
  bytes.writeUInt16LE(2, 32)
  bytes.writeUInt16LE(16, 34)
  bytes.write('data', 36)
  bytes.writeUInt32LE(samples * 2, 40)
  for (let at = 0; at < samples; at++) {
    bytes.writeInt16LE(Math.round(12_000 * Math.sin((2 * Math.PI * hertz * at) / rate)), 44 + at * 2)
  }
  return new Uint8Array(bytes)
}

type Spoken = { path: string; authorization: string | null; body: Record<string, unknown> }
type Heard = {
  path: string
  authorization: string | null
  fields: Record<string, string>
  file: File
  length: string | null
}

/** A server with `/audio/speech`, `/audio/transcriptions` and `/audio/translations`. It answers what `answers` says. */
export function soundUpstream(mp3: Uint8Array<ArrayBuffer>) {
  const spoken: Spoken[] = []
  const heard: Heard[] = []
  const answers = {
    speech: () => new Response(mp3, { headers: { 'content-type': 'audio/mpeg' } }),
    transcription: (): Response | Promise<Response> =>
      Response.json({
        text: ' The tide comes in. ',
        language: 'english',
        duration: 2,
        segments: [{ id: 0, start: 0, end: 1.5, text: ' The tide comes in.' }],
      }),
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const authorization = request.headers.get('authorization')
      if (path === '/v1/audio/speech') {
        spoken.push({ path, authorization, body: (await request.json()) as Record<string, unknown> })
        return answers.speech()
      }
      if (path === '/v1/audio/transcriptions' || path === '/v1/audio/translations') {
        const length = request.headers.get('content-length')
        const form = await request.formData()
        const fields = [...form].filter(([, value]) => typeof value === 'string') as [string, string][]
        heard.push({ path, authorization, fields: Object.fromEntries(fields), file: form.get('file') as File, length })
        return answers.transcription()
      }
      return new Response(null, { status: 404 })
    },
  })
  afterAll(() => server.stop(true))
  return { url: `http://127.0.0.1:${server.port}/v1`, spoken, heard, answers }
}

/** Sends a request whose answer is bytes. */
export async function bytesOf(world: World, person: Person, path: string, body: unknown) {
  const response = await world.app.api.handle(
    new Request(`http://localhost/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
}

/** Sends a form. */
export async function formTo(world: World, person: Person, path: string, form: FormData) {
  const response = await world.app.api.handle(
    new Request(`http://localhost/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${person.key}` },
      body: form,
    }),
  )
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

export const recording = (
  bytes: Uint8Array<ArrayBuffer>,
  name = 'a.wav',
  more: Record<string, string> = {},
): FormData => {
  const form = new FormData()
  for (const [field, value] of Object.entries(more)) form.set(field, value)
  form.set('file', new File([bytes], name))
  return form
}

/** A program that a test needs; where it is missing, the test says so and is skipped. */
export function programOf(name: string): string | null {
  const path = Bun.which(name)
  if (!path) process.stderr.write(`${name} is not installed; tests that need it are skipped\n`)
  return path
}

/**
 * What ffmpeg makes of an MP3: its seconds, and how loud it is at most (dB below full). Throws when it cannot read it.
 */
export async function decoded(ffmpeg: string, mp3: Uint8Array): Promise<{ seconds: number; peak: number }> {
  const args = ['-hide_banner', '-f', 'mp3', '-i', 'pipe:0', '-af', 'volumedetect', '-f', 'null', '-']
  const child = Bun.spawn([ffmpeg, '-xerror', ...args], { stdin: Buffer.from(mp3), stdout: 'ignore', stderr: 'pipe' })
  const text = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(text)
  const [, hours, minutes, seconds] = [...text.matchAll(/time=(\d+):(\d+):([\d.]+)/g)].at(-1) ?? []
  const peak = /max_volume: (-?[\d.]+) dB/.exec(text)?.[1]
  return { seconds: Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds), peak: Number(peak) }
}
