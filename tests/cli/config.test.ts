import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GLOBAL_FLAGS } from '../../cli/globals'
import { unknownVariables } from '../../src/app/variables'
import { cli } from '../support/io'
import { temporaryFolder } from '../support/temporary-folder'

const folder = temporaryFolder('svc-config-')
const file = join(folder, 'svc.server.json')
const upstreams = { main: { kind: 'openai', apiKey: 'canary-key' } }
writeFileSync(file, JSON.stringify({ publicUrl: 'https://svc.example', engines: { upstreams, models: {} } }))

type Setting = { name: string; value: string; origin: string }
const list = async (...more: string[]): Promise<Setting[]> =>
  JSON.parse((await cli(['config', 'list', '--json', '--config', file, ...more])).stdout)

describe('config', () => {
  test('lists every setting with its value and where it came from', async () => {
    const settings = await list()
    expect(settings).toContainEqual(
      expect.objectContaining({ name: 'publicUrl', value: 'https://svc.example', origin: 'file' }),
    )
    expect(settings).toContainEqual(expect.objectContaining({ name: 'host', value: '127.0.0.1', origin: 'default' }))
    expect((await list('--changed')).map(({ name }) => name)).toEqual(['publicUrl', 'engines'])
  })

  test('never prints a secret, only whether there is one', async () => {
    const { stdout, stderr } = await cli(`config list -o wide --config ${file}`)
    expect(stdout + stderr).not.toContain('canary-key')
    const settings = await list()
    expect(settings.find(({ name }) => name === 'engines')!.value).toBe('set, not shown')
    expect(settings.find(({ name }) => name === 'redisUrl')!.value).toBe('not set')
  })

  test('prints an address without its name and password, also where it is refused', async () => {
    const addresses = join(folder, 'addresses.json')
    writeFileSync(addresses, JSON.stringify({ engineBaseUrl: 'https://ida:canary-pw@llm.example/v1' }))
    const { stdout } = await cli(['config', 'get', 'engineBaseUrl', '--config', addresses])
    expect(stdout).toBe('https://…@llm.example/v1\n')
    writeFileSync(addresses, JSON.stringify({ publicUrl: 'https://ida:canary-pw@svc.example' }))
    const refused = await cli(['config', 'list', '--config', addresses])
    expect(refused.stderr).toContain('"https://…@svc.example"')
    expect(refused.stderr).not.toContain('canary-pw')
  })

  test.each(['publicUrl', 'SVC_PUBLIC_URL'])('explains a setting by the name %s', async (name) => {
    const { exitCode, stdout, stderr } = await cli(`config explain ${name} --config ${file}`)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^from +file$/m)
    expect(stderr).toContain('Values are those of this shell. A running server keeps the settings')
  })

  test('says which setting was meant', async () => {
    const { exitCode, stderr } = await cli(`config explain publicURL --config ${file}`)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Did you mean publicUrl?')
  })

  test('says every problem of a configuration at once, and where each is', async () => {
    const broken = join(folder, 'broken.json')
    writeFileSync(broken, '{"port": "high", "prot": 1}')
    const { exitCode, stdout, stderr } = await cli(`config list --config ${broken}`)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/"port" in .*\n +"prot" in /)
  })

  test('refuses a file that holds no settings', async () => {
    const list = join(folder, 'list.json')
    writeFileSync(list, '[]')
    const { exitCode, stdout } = await cli(['config', 'check', '--config', list])
    expect(exitCode).toBe(9)
    expect(stdout).toContain('list.json must contain an object with settings')
  })

  test('names a variable that was meant for a setting, and leaves those of others alone', async () => {
    const ours = Object.values(GLOBAL_FLAGS).flatMap((one) => ('env' in one ? [[one.env, '1']] : []))
    expect(unknownVariables(Object.fromEntries(ours))).toEqual([])
    expect(unknownVariables({ SVC_MODEL: 'm' }).join()).toEndWith('Did you mean SVC_ENGINE_MODEL?')
    const env = { SVC_PROT: '1', SVC_API_KEY: 'x', SVC_SHOP_LEDGER: 'y' }
    const { exitCode, stdout } = await cli(`config check --config ${file} --json`, { env })
    expect(exitCode).toBe(9)
    const problem = 'SVC_PROT is set, but no setting has this name. Did you mean SVC_PORT?'
    expect(JSON.parse(stdout)).toEqual([{ problem }])
    const doctor = await cli(`doctor config --config ${file} --json`, { env })
    expect(JSON.parse(doctor.stdout)).toMatchObject([{ status: 'warn', detail: problem }])
  })
})
