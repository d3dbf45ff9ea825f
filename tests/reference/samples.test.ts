// SQLite only: what is sent is proved, and no row is looked at.
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

const world = await createWorld()
const { origin: url } = listen(world)
const { key } = await world.person()
const TYPED: Record<string, (file: string) => string[]> = {
  sh: (file) => ['sh', file],
  ts: (file) => [process.execPath, file],
  python: (file) => ['python3', file],
}

/** Every sample of one route, as the page has it. */
async function samplesOf(page: string, id: string): Promise<[language: string, code: string][]> {
  const text = await (await fetch(`${url}/docs/${page}.md`)).text()
  const section = text.slice(text.indexOf(`{#${id}}`)).split('\n## ')[0]!
  return [...section.matchAll(/```(sh|ts|python)\n([\s\S]*?)\n```/g)].map(([, language, code]) => [language!, code!])
}

/** What a sample prints, run as it would be pasted. */
async function printed(language: string, code: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sample-'))
  try {
    await Bun.write(join(folder, `sample.${language}`), code)
    const child = Bun.spawn(TYPED[language]!(`sample.${language}`), {
      cwd: folder,
      env: { ...process.env, SVC_API_KEY: key },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return (await child.exited) === 0 ? out : `exit ${child.exitCode}: ${err}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test.each([
  ['completions', 'postCompletions', /cmpl_/],
  ['chat', 'postChatCompletions', /chatcmpl_/],
  ['guardrails', 'postGuardrailPolicies', /No personal data/],
  ['models', 'getModels', /svc-1/],
])('the samples of %s run as they are pasted', async (page, id, answer) => {
  const samples = await samplesOf(page, id)
  expect(samples.map(([language]) => language)).toEqual(['sh', 'ts', 'python'])
  for (const [language, code] of samples) expect(await printed(language, code)).toMatch(answer)
})
