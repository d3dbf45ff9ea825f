/**
 * `bun run bench making [--rounds=10]`: how long the server takes for each thing it makes by itself, warm, and how long
 * `/health` takes meanwhile (50 ms at p99). On a busy machine the milliseconds of processor count.
 */
import { watchHealth } from '../catalogue/support/health'
import { percentile } from '../support/percentile'
import { processorMsOf } from './processor'
import { count, print, serveBench } from './setup'

const rounds = count('rounds', 10)
const LINES = Array.from({ length: 12 }, (_, n) => `Station ${n}: ${n * 7} visitors, ${n * 3} of them returned.`)
const PROMPT = `Report on the visitors of a harbour.\n${LINES.join('\n')}`
const LIMIT_MS: Record<string, number> = {
  pdf: 150,
  'pdf in Chinese': 150,
  'pdf in Korean': 150,
  docx: 300,
  pptx: 300,
  xlsx: 300,
  csv: 300,
  image: 150,
  video: 8_000,
}

const server = await serveBench('making', { SVC_LOG_LEVEL: 'error' })
const { ask } = server

const makers: Record<string, (n: number) => Promise<unknown>> = {
  image: (n) => ask('images', { prompt: `a red sailboat at sunset, number ${n}` }),
  video: async (n) => {
    const { job_id } = await ask<{ job_id: string }>('video', {
      prompt: `a red sailboat, number ${n}`,
      duration: '5s',
      aspect_ratio: '16:9',
    })
    for (;;) {
      const { status, error } = await ask<{ status: string; error: string }>(`jobs/${job_id}`)
      if (status === 'completed') return
      if (status === 'failed') throw new Error(error)
      await Bun.sleep(20)
    }
  },
}
for (const format of ['pdf', 'docx', 'pptx', 'xlsx', 'csv'])
  makers[format] = (n) => ask('documents', { prompt: `${PROMPT}\nCopy ${n}.`, format })
const FOREIGN = {
  Chinese: '港口报告：游客人数逐年增加，码头全年开放。',
  Korean: '항구 보고서: 방문객이 해마다 늘고 부두는 일 년 내내 열려 있다.',
}
for (const [language, sentence] of Object.entries(FOREIGN))
  makers[`pdf in ${language}`] = (n) =>
    ask('documents', { prompt: `${sentence.repeat(12)}\n\n${sentence} ${n}`, format: 'pdf' })

try {
  for (const [name, make] of Object.entries(makers)) {
    const times = name === 'video' ? Math.min(rounds, 3) : rounds
    for (let n = 0; n < 2 && name !== 'video'; n++) await make(n)
    const health = watchHealth(server.port, server.pid)
    const [took, before] = [[] as number[], processorMsOf(server.pid)]
    for (let n = 0; n < times; n++) {
      const began = performance.now()
      await make(n + 2)
      took.push(performance.now() - began)
    }
    const processor = ((processorMsOf(server.pid) - before) / times).toFixed(0)
    await health.stop()
    const latencies = health.latencies()
    const rank = (times: number[], share: number) => percentile(times, share).toFixed(0)
    print(
      `${name}: median ${rank(took, 0.5)} ms, at most ${rank(took, 1)} ms (limit ${LIMIT_MS[name]}), ${processor} ms of processor; ` +
        `/health meanwhile p99 ${rank(latencies, 0.99)} ms of ${latencies.length} asks (limit 50)`,
    )
  }
} finally {
  await server.stop()
}
process.exit(0)
