// SQLite only: what is sent is proved, and no row is looked at.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLong } from '../../support/long'
import { createWorld } from '../../support/world'

/** What a sample meets on a server of its own, where it is neither a success nor an id that is not there. */
const REFUSED: Record<string, string> = {
  // These are sent by a person who is signed in, or by another server.
  deleteAuthSessions: 'invalid_session',
  deleteAuthSessionsById: 'invalid_session',
  getAuthSessions: 'invalid_session',
  patchAuthMe: 'invalid_session',
  postAuthConfirm: 'invalid_session',
  postAuthLinksRedeem: 'invalid_token',
  postAuthPassword: 'invalid_session',
  postAuthSessions: 'invalid_credentials',
  postAuthSignup: 'forbidden',
  postSkillsSubmissionsByIdReview: 'forbidden',
  postRateLimitsRequestsByIdDecision: 'forbidden',
  postBillingWebhook: 'validation_error',
  // These need what the operator sets up, or what somebody bought.
  postAudioStt: 'stt_unavailable',
  postAudioTranscriptions: 'stt_unavailable',
  postAudioTranslations: 'stt_unavailable',
  postVoiceToken: 'voice_unavailable',
  postBrowserSessions: 'browser_unconfigured',
  postVoiceAction: 'not_found',
  postRoutingPreferencesSuggestRule: 'routing_suggest_below_threshold',
  // The body names what only its reader has.
  postEvents: 'forbidden',
  postBatches: 'not_found',
  postFiles: 'validation_error',
  postImagesEdits: 'validation_error',
  postIframes: 'not_found',
  deleteSkills: 'not_found',
}

const world = await createWorld({ config: { browserPath: 'off', tiers: { free: { rpm: 9_000, tpm: 9_000_000 } } } })
const { key } = await world.person({ tier: 'free' })

type Seen = { method: string; path: string; body: unknown; outcome: string }
let seen: Seen[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const isJson = request.headers.get('content-type') === 'application/json'
    const body = isJson ? await request.clone().json() : null
    const answer = await world.app.api.handle(request)
    const outcome = answer.ok ? 'done' : (await answer.clone().json()).error.code
    const { pathname, search } = new URL(request.url)
    seen.push({ method: request.method, path: pathname + search, body, outcome })
    return answer
  },
})
const { origin } = server.url
const folder = mkdtempSync(join(tmpdir(), 'svc-samples-'))
afterAll(() => {
  server.stop(true)
  rmSync(folder, { recursive: true, force: true })
})
await Bun.write(join(folder, 'speech.mp3'), 'no sound')

type Sample = { id: string; hasBody: boolean; language: string; code: string }

/** Every sample of every page, as its reader has it. */
async function allSamples(): Promise<Sample[]> {
  const read = async (path: string) => (await fetch(`${origin}${path}`)).text()
  const start = await read('/docs.md')
  const pages = [...start.matchAll(/^\| \[[^\]]+\]\((\/docs\/[\w-]+\.md)\)/gm)].map(([, path]) => path!)
  return (await Promise.all(pages.map(read)))
    .flatMap((page) => page.split(/^## /m).slice(1))
    .flatMap((section) => {
      const id = /\{#(\w+)\}/.exec(section)![1]!
      const blocks = [...section.matchAll(/^```(sh|ts|python)\n([\s\S]*?)\n```$/gm)]
      const hasBody = / -[dF] /.test(blocks[0]![2]!)
      return blocks.map(([, language, code]) => ({ id, hasBody, language: language!, code: code! }))
    })
}
/** Without what is followed for as long as its reader likes. */
const samples = (await allSamples()).filter(({ id }) => id !== 'getLive')
const ids = [...new Set(samples.map(({ id }) => id))].sort()

/** Runs the files of a folder one after the other; a refusal is no failure of a sample. */
const RUNNERS: Record<string, string[]> = {
  sh: ['sh', '-c', 'for file in *.sh; do sh "$file" >/dev/null || echo "$file: $?" >&2; done'],
  ts: [
    process.execPath,
    '-e',
    `console.log = () => {}
for (const file of [...new Bun.Glob('*.ts').scanSync('.')].sort()) {
  await import(process.cwd() + '/' + file).catch((error) => console.error(file, error))
}`,
  ],
  python: [
    'python3',
    '-c',
    `import contextlib, glob, io, runpy, sys, urllib.error
for file in sorted(glob.glob("*.python")):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(file)
    except urllib.error.HTTPError:
        pass
    except Exception as error:
        print(file, repr(error), file=sys.stderr)
`,
  ],
}

/** What the samples of one language made the server answer, by operation. */
async function run(language: string, of: readonly Sample[]): Promise<Map<string, Seen>> {
  const own = of.filter((one) => one.language === language).sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const { id, code } of own) await Bun.write(join(folder, `${id}.${language}`), code)
  seen = []
  const child = Bun.spawn(RUNNERS[language]!, {
    cwd: folder,
    env: { ...process.env, LC_ALL: 'C', SVC_API_KEY: key },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect(await new Response(child.stderr).text()).toBe('')
  expect({ exited: await child.exited, seen: seen.length }).toEqual({ exited: 0, seen: own.length })
  return new Map(own.map(({ id }, at) => [id, seen[at]!]))
}

const isKnown = (id: string, { path, outcome }: Seen): boolean =>
  outcome === (REFUSED[id] ?? 'done') || (/not_found$/.test(outcome) && MADE_UP.test(path))
/** Ids that nothing has. */
const MADE_UP = /3f0c9a52-7b1e|0123456789abcdef/

test('the page of the clients is enough for the TypeScript client in a folder of its own (docs/api.md 23.1)', async () => {
  const page = await (await fetch(`${origin}/docs/clients.md`)).text()
  const [add, use] = [...page.matchAll(/^```(?:sh|ts)\n([\s\S]*?)\n```$/gm)].map(([, code]) => code!)
  const user = mkdtempSync(join(tmpdir(), 'svc-user-'))
  const typed = async (command: string[]) => {
    const env = { ...process.env, SVC_API_KEY: key }
    const child = Bun.spawn(command, { cwd: user, env, stdout: 'pipe', stderr: 'pipe' })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    expect({ exited: await child.exited, err }).toEqual({ exited: 0, err: expect.any(String) })
    return out
  }
  try {
    await Bun.write(join(user, 'package.json'), '{"name":"user","type":"module"}')
    // The folder in place of the package, which tests/client/pack.test.ts makes.
    await typed(
      add!
        .replace(/\/path\S+/, process.cwd())
        .split(' ')
        .with(0, process.execPath),
    )
    await Bun.write(join(user, 'use.ts'), `${use}\nconsole.log(content, SvcError.name)`)
    expect(await typed([process.execPath, 'use.ts'])).toMatch(/No language model[\s\S]+SvcError/)
  } finally {
    rmSync(user, { recursive: true, force: true })
  }
})

describe('the samples of the reference run as they are pasted (docs/operating.md 5.5)', () => {
  let first: ReturnType<typeof run> | null = null
  const inTypeScript = () => {
    first ??= run('ts', samples)
    return first
  }

  test('TypeScript: each is a success, or names an id that is not there', async () => {
    const found = await inTypeScript()
    expect([...found.keys()]).toEqual(ids)
    expect([...found].filter(([id, one]) => !isKnown(id, one))).toEqual([])
    expect([...found.values()].filter(({ outcome }) => outcome === 'done').length).toBeGreaterThan(65)
  })

  for (const language of ['sh', 'python']) {
    const runner = RUNNERS[language]![0]!
    if (!Bun.which(runner))
      process.stdout.write(`NOT RUN: samples in ${language}, because ${runner} is not installed.\n`)
    test.skipIf(!Bun.which(runner))(`${language}: each sends what the one in TypeScript sends`, async () => {
      const typed = await inTypeScript()
      const found = await run(language, isLong ? samples : samples.filter(({ hasBody }) => hasBody))
      expect(found.size).toBeGreaterThan(60)
      const sent = ({ method, path, body }: Seen) => ({ method, path, body })
      for (const [id, one] of found) expect({ id, sent: sent(one) }).toEqual({ id, sent: sent(typed.get(id)!) })
    })
  }
})
