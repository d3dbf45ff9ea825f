import { PIXEL } from '../../files/support'

/** What a picture server was asked: the pictures that came along are counted by their bytes. */
type PictureCall = { path: string; prompt: string; model: string | null; sent: number[] }

type WirePart = { text?: string; inlineData?: { data: string } }

/** A server of pictures in the formats of OpenAI-like servers and of Gemini; `[[500]]` in a prompt is its answer. */
export function startPictureServer() {
  const calls: PictureCall[] = []
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  return { calls, url: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop(true) }

  async function answer(request: Request): Promise<Response> {
    // The probe of a server asks for its models, at any time.
    if (request.method === 'GET') return Response.json({ data: [] })
    const { pathname: path } = new URL(request.url)
    const call = path.endsWith('/edits') ? await formCall(request) : await jsonCall(request)
    calls.push({ path, ...call })
    const status = Number(/\[\[(\d{3})\]\]/.exec(call.prompt)?.[1] ?? 200)
    if (status !== 200) return Response.json({ error: { message: 'broken' } }, { status })
    const data = call.prompt.includes('[[text]]') ? '' : PIXEL.toString('base64')
    if (!path.includes(':generateContent')) return Response.json({ created: 1, data: [{ b64_json: data }] })
    const parts = data ? [{ inlineData: { mimeType: 'image/png', data } }] : [{ text: 'no picture' }]
    return Response.json({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] })
  }
}

async function formCall(request: Request) {
  const form = (await request.formData()) as unknown as { get(name: string): unknown; values(): Iterable<unknown> }
  const files = [...form.values()].filter((value) => value instanceof Blob)
  return { prompt: String(form.get('prompt')), model: String(form.get('model')), sent: files.map(({ size }) => size) }
}

async function jsonCall(request: Request) {
  const body = (await request.json()) as { prompt?: string; model?: string; contents?: { parts: WirePart[] }[] }
  const parts = body.contents?.flatMap((content) => content.parts) ?? []
  return {
    prompt: body.prompt ?? parts.map(({ text = '' }) => text).join(''),
    model: body.model ?? null,
    sent: parts.flatMap(({ inlineData }) => (inlineData ? [Buffer.from(inlineData.data, 'base64').length] : [])),
  }
}
