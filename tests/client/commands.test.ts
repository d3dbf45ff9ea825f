// SQLite only: the commands are calls of the API, which is tried on both databases.
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSvc, tierOf } from '../../client/commands'
import { listen } from '../support/listening'
import { createWorld } from '../support/world'

const world = await createWorld()
const { origin } = listen(world)
const ada = await world.person()
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A person at a terminal, in an empty folder that is their home as well. */
function terminal(env: Record<string, string> = { SVC_API_KEY: ada.key }) {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-tenant-'))
  folders.push(cwd)
  return {
    cwd,
    async type(...words: string[]) {
      const [out, err]: string[][] = [[], []]
      const exit = await runSvc(words, {
        env: { HOME: cwd, SVC_BASE_URL: origin, ...env },
        cwd,
        out: (line) => out!.push(line),
        err: (line) => err!.push(line),
      })
      return { exit, out: out!.join('\n'), err: err!.join('\n') }
    },
    read: (file: string) => readFileSync(join(cwd, file), 'utf8'),
    write(file: string, text: string) {
      mkdirSync(join(cwd, file, '..'), { recursive: true })
      writeFileSync(join(cwd, file), text)
    },
  }
}

describe('the commands of a tenant (docs/api.md 23.2)', () => {
  test('init writes settings once, rules, and the entries of the editors that are there', async () => {
    const at = terminal()
    mkdirSync(join(at.cwd, '.cursor'))
    expect((await at.type('init')).exit).toBe(0)
    expect(JSON.parse(at.read('svc.config.json'))).toEqual({ persona: 'svc', skills: [], defaultMode: 'auto' })
    expect(existsSync(join(at.cwd, '.svc/RULES.md'))).toBe(true)
    expect(at.read('.cursor/mcp.json')).toContain('env:SVC_API_KEY')
    expect(at.read('.cursor/mcp.json')).not.toContain(ada.key)
    at.write('svc.config.json', '{"persona":"mine"}')
    expect((await at.type('init')).out).toContain('left as it is')
    expect(at.read('svc.config.json')).toBe('{"persona":"mine"}')
  })

  test('mcp install merges with what is there, and knows its editors', async () => {
    const at = terminal()
    at.write('.vscode/mcp.json', '{"mcpServers":{"other":{"command":"x"}},"more":1}')
    expect((await at.type('mcp', 'install', '--ide', 'vscode')).exit).toBe(0)
    expect(JSON.parse(at.read('.vscode/mcp.json'))).toMatchObject({
      more: 1,
      mcpServers: { other: { command: 'x' }, svc: { command: 'npx', args: ['-y', 'svc', 'mcp'] } },
    })
    expect((await at.type('mcp', 'install', '--ide', 'all')).exit).toBe(0)
    for (const file of ['.cursor/mcp.json', '.mcp.json', '.warp/mcp.json', '.codeium/windsurf/mcp_config.json'])
      expect(at.read(file)).toContain('"svc"')
    expect(await at.type('mcp', 'install', '--ide', 'ed')).toMatchObject({ exit: 1 })
    at.write('.mcp.json', '{ not json')
    expect(await at.type('mcp', 'install', '--ide', 'claude-code')).toMatchObject({ exit: 1 })
    expect(at.read('.mcp.json')).toBe('{ not json')
  })

  test('the key comes from the environment, else from a file that only its owner reads', async () => {
    const at = terminal({})
    expect(await at.type('complete', 'Hello')).toMatchObject({ exit: 1, err: expect.stringContaining('SVC_API_KEY') })
    at.write('.svc/credentials', JSON.stringify({ apiKey: ada.key }))
    const { out, exit } = await at.type('status')
    expect({ exit, out: out.includes(ada.key) }).toEqual({ exit: 0, out: false })
    expect(out).toContain('key works yes')
    expect(statSync(join(at.cwd, '.svc/credentials')).mode & 0o777).toBe(0o600)
    expect((await at.type('login')).out).toContain('A key is there already')
    expect((await at.type('logout')).exit).toBe(0)
    expect(existsSync(join(at.cwd, '.svc/credentials'))).toBe(false)
    expect((await terminal().type('logout')).err).toContain('still set')
  })

  test('verify prints JSON, and ends with 1 when the key is not taken', async () => {
    const good = await terminal().type('verify')
    expect(good.exit).toBe(0)
    expect(JSON.parse(good.out).authenticated).toBe(true)
    const bad = await terminal({ SVC_API_KEY: 'svc_sk_live_wrong' }).type('verify')
    expect(bad.exit).toBe(1)
    expect(JSON.parse(bad.out).authenticated).toBe(false)
  })

  test('complete prints the answer, then what it cost', async () => {
    const { out, exit } = await terminal().type('complete', 'What is 6 times 7?')
    expect(exit).toBe(0)
    expect(out).toMatch(/42[\s\S]*\nModel: \S+ \| Mode: \w+ \| Cost: [\d.]+¢$/)
  })

  test('a skill is created, checked and submitted', async () => {
    const at = terminal()
    expect((await at.type('skill', 'validate')).exit).toBe(1)
    expect((await at.type('skill', 'init')).exit).toBe(0)
    expect((await at.type('skill', 'init')).exit).toBe(1)
    expect((await at.type('skill', 'validate')).out).toContain('Review: auto')
    expect(await at.type('skill', 'publish')).toMatchObject({ exit: 0, out: expect.stringContaining('submitted as') })
    at.write('svc-skill.json', '{"name":"x"}')
    expect(await at.type('skill', 'publish')).toMatchObject({ exit: 1, err: expect.stringContaining('lacks') })
  })

  test.each([
    [{}, 'auto'],
    [{ knowledge: ['a.md'] }, 'staff'],
    [{ tools: [{}] }, 'staff'],
    [{ permissions: ['write:memory'] }, 'staff'],
    [{ permissions: ['external:http'] }, 'auto'],
    [{ permissions: ['external:http', 'write:memory'] }, 'security'],
    [{ permissions: ['external:http', 'execute:tools'] }, 'security'],
  ])('a manifest with %j is for %s', (manifest, tier) => {
    expect(tierOf(manifest)).toBe(tier)
  })

  test('help is 0, an unknown command is 1', async () => {
    for (const word of ['help', '--help', '-h']) expect((await terminal().type(word)).exit).toBe(0)
    expect(await terminal().type('fly')).toMatchObject({ exit: 1, err: expect.stringContaining('Usage') })
  })
})
