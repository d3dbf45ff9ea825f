/**
 * `bun run make client [FOLDER]`: makes `svc-client-VERSION.tgz` in the folder, the package that users of Node, Bun and
 * bundlers install: plain JavaScript, and types made from the API's own description, so that the server is not needed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { compile, type JSONSchema } from 'json-schema-to-typescript'
import { version } from '../package.json'
import { ownDocument } from '../src/app/own-document'
import type { Document, Schema } from '../src/pages/reference/operations'

const ROOT = join(import.meta.dir, '..')
const SOURCES = ['index.ts', 'events.ts', 'transport.ts', 'webhooks.ts']

/** Imported as `svc/client`, as from the folder of the server. */
const manifest = {
  name: 'svc',
  version,
  description: 'Client of svc, the AI orchestration server',
  license: 'Apache-2.0',
  type: 'module',
  exports: { './client': { types: './index.d.ts', default: './index.js' } },
  engines: { node: '>=20' },
}

const COMPILER = {
  declaration: true,
  emitDeclarationOnly: true,
  strict: true,
  target: 'esnext',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['esnext', 'dom', 'dom.asynciterable'],
  types: ['node'],
}

const folder = resolve(process.argv[2] ?? '.')
const work = mkdtempSync(join(tmpdir(), 'svc-client-'))
try {
  const built = join(work, 'package')
  mkdirSync(built)
  await buildTypes((await ownDocument(join(work, 'data'))) as Document, built)
  await buildCode(built)
  writeFileSync(join(built, 'package.json'), JSON.stringify(manifest, null, 2))
  writeFileSync(join(built, 'LICENSE'), readFileSync(join(ROOT, 'LICENSE')))
  writeFileSync(join(built, 'README.md'), readFileSync(join(ROOT, 'client/README.md')))
  const target = join(folder, `svc-client-${version}.tgz`)
  run(['tar', '-czf', target, '-C', work, 'package'])
  process.stdout.write(`${target}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function buildCode(into: string): Promise<void> {
  const done = await Bun.build({
    entrypoints: [join(ROOT, 'client/index.ts')],
    target: 'node',
    format: 'esm',
    outdir: into,
  })
  if (!done.success) throw new AggregateError(done.logs, 'the client could not be built')
}

/** The sources' own declarations, over routes that are written out in place of the server's types. */
async function buildTypes(document: Document, into: string): Promise<void> {
  const sources = join(work, 'sources')
  mkdirSync(sources)
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'))
  writeFileSync(join(sources, 'routes.ts'), await routesOf(document))
  for (const name of SOURCES) {
    const text = readFileSync(join(ROOT, 'client', name), 'utf8')
    writeFileSync(join(sources, name), named(text.replace('../src/completions/schema', './routes')))
  }
  const types = readFileSync(join(ROOT, 'client/types.ts'), 'utf8')
    .replace(/^import .*/, "import type { Routes } from './routes'")
    .replace(/^export type Routes = .*/m, 'export type { Routes }')
  writeFileSync(join(sources, 'types.ts'), named(types))
  writeFileSync(join(sources, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...COMPILER, outDir: into } }))
  run([join(ROOT, 'node_modules/.bin/tsc'), '-p', sources])
}

/** With the endings that Node's resolution wants of a package's own modules. */
function named(text: string): string {
  return text.replace(/ from '(\.\/\w+)'/g, " from '$1.js'")
}

/** Every route by its path, as `Api` has it, and the shapes that they share. */
async function routesOf({ paths, components }: Document): Promise<string> {
  const routes: Schema = branch()
  for (const [path, methods] of Object.entries(paths)) {
    let at = routes
    for (const part of path.replace(/^\/(api\/v1\/)?/, '').split('/')) {
      const name = part.replace(/^\{(.+)\}$/, ':$1')
      at.properties![name] ??= branch()
      at.required = Object.keys(at.properties!)
      at = at.properties![name]
    }
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
      const query = parameters.filter((parameter) => parameter.in === 'query')
      const answers = Object.entries(responses).flatMap(([status, { content }]) => {
        const schema = content?.['application/json']?.schema
        return schema && Number(status) < 300 ? [[status, schema] as const] : []
      })
      const body = requestBody && Object.values(requestBody.content)[0]?.schema
      at.required = [...Object.keys(at.properties!), method]
      at.properties![method] = branch({
        query: branch(
          Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
          query.filter(({ required }) => required).map(({ name }) => name),
        ),
        ...(body ? { body } : {}),
        response: branch(Object.fromEntries(answers)),
      })
    }
  }
  const whole = { ...routes, title: 'Routes', definitions: components.schemas }
  const text = JSON.stringify(whole).replaceAll('#/components/schemas/', '#/definitions/')
  const written = await compile(JSON.parse(text) as JSONSchema, 'Routes', {
    additionalProperties: false,
    bannerComment: '',
    format: false,
    unreachableDefinitions: true,
  })
  // A status is a number, as in the types of the server.
  return written.replace(/^(\s*)"?(2\d\d)"?: /gm, '$1$2: ')
}

function branch(properties: Record<string, Schema> = {}, required = Object.keys(properties)): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

function run(command: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`${command[0]}: ${stdout}${stderr}`)
}
