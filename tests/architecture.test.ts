import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { ERROR_PAGES } from '../src/pages/reference/error-pages'
import { circlesOf } from './support/circles'
import {
  calledOnce,
  declaredNames,
  linesOf,
  moduleOf,
  readSources,
  type Source,
  smallWithOneImporter,
  unnamedComparisons,
} from './support/house'

/** Reading order: a module may use modules named before it, never one named after. Routes come last but for `app`. */
const ORDER = `
  kernel cluster jobs resource text audit idempotency events files usage accounts webhooks billing limits pages engines
  guardrails charging routing media research training tools browser skills completions compat automation widgets
  operators http routes app
`
  .trim()
  .split(/\s+/)

/** Other modules import from a module's `index` or from its schemas. */
const ENTRIES = /^(index|(.*[/-])?schema)$/

/** What may be written in one place only. */
const ONE_HOME: Record<string, { pattern: RegExp; home: RegExp }> = {
  'the wall clock': { pattern: /\bnew Date\(\)|\bDate\.now\(/, home: /^src\/kernel\/clock\.ts$/ },
  randomness: { pattern: /\bMath\.random\b/, home: /^$/ },
  'random bytes': {
    pattern: /\brandomBytes\(|\brandomUUID\(|getRandomValues/,
    home: /^src\/(kernel\/(crypto|ids)|app\/secrets)\.ts$/,
  },
  // A bundle is told the mode that its libraries run in; samples are programs of others, written down.
  'the environment': {
    pattern: /\bBun\.env\b|\bprocess\.env\b/,
    home: /^src\/(app\/(config|make-bundle|variables)|pages\/(assets|reference\/samples))\.ts$/,
  },
  'calls to addresses': {
    pattern: /(?<![.\w])fetch\(/,
    home: /^src\/(kernel\/outbound|app\/client|pages\/reference\/samples)\.ts$/,
  },
  // The loader of the chat runs in pages of others and has no other place for a word.
  'the console': {
    pattern: /\bconsole\.(?!css|json)\w/,
    home: /^src\/(pages\/browser\/embed\/|pages\/reference\/samples)/,
  },
  'evaluated code': { pattern: /\beval\(|\bnew Function\(|node:vm/, home: /^$/ },
  'other programs': {
    pattern: /\bBun\.spawn|child_process/,
    home: /^src\/(kernel\/worker-process|app\/(release|serve|set-up)|operators\/dump|media\/audio\/espeak|media\/video\/marker)\.ts$/,
  },
  // A thread cannot be ended while it computes: what callers send runs in processes.
  threads: { pattern: /\bnew Worker\(/, home: /^src\/(kernel\/store\/off-thread|operators\/backup-seal)\.ts$/ },
  // Elsewhere an address may come from a caller, and `URL.parse` gives null where `new URL` throws. Scripts and pages
  // beside a file, and addresses of the operator's own settings, are known to be sound.
  'addresses that throw': {
    pattern: /\bnew URL\((?!'[^']*', import\.meta\.url\))/,
    home: /^src\/(pages\/browser\/|app\/(server|canonical|client|ops|container-foundation)\.ts|browser\/(forward|egress-proxy)\.ts|operators\/dump\.ts|billing\/payments\/stripe\.ts|http\/context\.ts)/,
  },
  'the web framework': { pattern: /from 'elysia'/, home: /^src\/(http\/.*|app\/.*|[a-z/-]+[/-]routes(-[a-z]+)?)\.ts$/ },
  TypeBox: { pattern: /from 'typebox/, home: /^src\/kernel\/schema\.ts$/ },
  'raw SQL text': { pattern: /\.unsafe\(|sql\.raw\(/, home: /^src\/kernel\/store\/postgres-line\.ts$/ },
}

/** Packages that take long to load, for files, fonts, mail, browsers, payments, code and the protocols of others. */
const LATER =
  /^(@babel\/|@resvg\/|file-type|fontkit|pdfkit|nodemailer|puppeteer-core|stripe$|@modelcontextprotocol\/|@ai-sdk\/|@scalar\/)/

const MAX_LINES = 400
const MAX_TEST_LINES = 600

const screens = await readSources('src/pages/browser/console/**/*.{ts,tsx}')
// The console runs in browsers and has rules of its own.
const sources = (await readSources('src/**/*.ts')).filter(({ file }) => !file.startsWith('src/pages/browser/console/'))
const surfaces = await readSources('{cli,tui}/**/*.{ts,tsx}')
const tests = await readSources('tests/**/*.ts')

const leafOf = (path: string) => path.split('/').slice(2).join('/').replace(/\.ts$/, '') || 'index'
/** A module with many routes keeps some of them in `routes-<noun>`. */
const isRoutes = (path: string) => /^(.*[/-])?routes(-[a-z]+)?$/.test(leafOf(path))
const rankOf = (path: string) => {
  const rank = ORDER.indexOf(isRoutes(path) ? 'routes' : moduleOf(path))
  if (rank < 0) throw new Error(`${path}: "${moduleOf(path)}" is not a module; give it a place in ORDER`)
  return rank
}

const importsOf = ({ file, text }: Source) =>
  [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) => ({
    file,
    target: normalize(join(dirname(file), path!)),
  }))
const crossings = sources
  .filter(({ file }) => file !== 'src/main.ts')
  .flatMap(importsOf)
  .filter(({ file, target }) => moduleOf(target) !== moduleOf(file))
const arrow = ({ file, target }: { file: string; target: string }) => `${file} -> ${target}`
const tooLong = (found: readonly Source[], max: number) =>
  found.filter((source) => linesOf(source) > max).map((source) => `${source.file}: ${linesOf(source)}`)

/** These may only fall: anyone who takes some away lowers the figure. */
const RATCHET = { calledOnce: 272, smallFiles: 32, files: 856 }

/** The field's words are used instead (docs/design.md 2); `most` and `least` only as the first part of a name. */
const REFUSED =
  /^(said|asked|told|knocks?|desk|deciders?|inquire|inquiry|sightings?|oversight|everyones|aloud|leash|vet|whose|mends?|mended|rooms)$/
const REFUSED_FIRST = /^(most|least)$/
/** Refused in the product only. Tests may keep them. */
const REFUSED_IN_PRODUCT = /^(doors?|anew|likeness|filming|seldom)$/
const partsOf = (name: string) => (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((part) => part.toLowerCase())

describe('the house', () => {
  test('has sources to look at', () => {
    expect(sources.length).toBeGreaterThan(100)
    expect(crossings.length).toBeGreaterThan(100)
  })

  test('imports only point back up the reading order', () => {
    const inOwnModule = (file: string, target: string) => isRoutes(file) && moduleOf(file) === moduleOf(target)
    const wrong = crossings.filter(({ file, target }) => !inOwnModule(file, target) && rankOf(target) >= rankOf(file))
    expect(wrong.map(arrow)).toEqual([])
  })

  test('modules are entered by their index and schemas', () => {
    const open = ['kernel', 'http']
    const throughWalls = crossings.filter(({ file, target }) => {
      if (open.includes(moduleOf(target)) || ENTRIES.test(leafOf(target))) return false
      return (
        !(moduleOf(file) === 'app' && (isRoutes(target) || /^(.*[/-])?config$/.test(leafOf(target)))) &&
        !(moduleOf(target) === 'app' && moduleOf(file) === 'app') &&
        moduleOf(file) !== 'training'
      )
    })
    expect(throughWalls.map(arrow)).toEqual([])
  })

  test.each(Object.entries(ONE_HOME))('%s has one home', (_, { pattern, home }) => {
    expect(
      sources
        .filter(({ file, text }) => pattern.test(withoutComments(text)) && !home.test(file))
        .map(({ file }) => file),
    ).toEqual([])
  })

  test('the command line and the dashboard are clients: they enter the app by its client, or to start it', () => {
    const doors =
      /^src\/(audit\/proof|pages\/reference\/error-pages|browser\/examine|skills\/review|guardrails\/policy|routing\/rules|automation\/workflows-review|app\/(backups|client|copy|keyring|open|production|reset|start|bundle|config|lock|variables|version)|kernel\/[a-z-]+|[a-z/-]+[/-]schema|http\/envelope)$/
    const wrong = surfaces.flatMap(importsOf).filter(({ target }) => target.startsWith('src/') && !doors.test(target))
    expect(wrong.map(arrow)).toEqual([])
  })

  test('no file is in a circle of imports', () => {
    expect(circlesOf([...sources, ...surfaces])).toEqual([])
    const one = { file: 'src/a.ts', text: "import { b } from './b'\n" }
    const other = { file: 'src/b.ts', text: "import { a } from './a'\n" }
    expect(circlesOf([one, other])).toHaveLength(2)
    expect(circlesOf([one, { ...other, text: "import type { A } from './a'\n" }])).toEqual([])
  })

  test('what a comment says is thrown is an error of the API, with its status', () => {
    const noted = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/\b([45]\d\d) `([a-z_]+)`/g)].map(([, status, code]) => ({
        file,
        status: Number(status),
        code: code!,
      })),
    )
    expect(noted.length).toBeGreaterThan(100)
    expect(noted.filter(({ code, status }) => ERROR_PAGES[code]?.status !== status)).toEqual([])
  })

  test('every index opens with one sentence about its module', () => {
    const doors = sources.filter(({ file }) => /^src\/[a-z-]+\/index\.ts$/.test(file))
    expect(doors.length).toBeGreaterThan(15)
    expect(doors.filter(({ text }) => !/^\/\*\* .+ \*\/\n/.test(text)).map(({ file }) => file)).toEqual([])
  })

  test('an index exports names as they are declared', () => {
    const renamed = sources
      .filter(({ file }) => file.endsWith('/index.ts'))
      .flatMap(({ file, text }) =>
        [...text.matchAll(/^export \{[^}]*?(\w+ as \w+)/gm)].map(([, name]) => `${file}: ${name}`),
      )
    expect(renamed).toEqual([])
  })

  test('no key of this server is in the repository', async () => {
    const listed = Bun.spawnSync(['git', 'ls-files', '-z']).stdout.toString().split('\0').filter(Boolean)
    expect(listed.length).toBeGreaterThan(1_000)
    expect(listed.filter((file) => file.endsWith('.key'))).toEqual([])
    const there = listed.filter((file) => existsSync(file))
    const texts = await Promise.all(there.map(async (file) => ({ file, text: await Bun.file(file).text() })))
    const secret = /svc_(?:sk_(?:live|test)|op)_[0-9A-Za-z]{48}(?![0-9A-Za-z])/
    expect(texts.filter(({ text }) => secret.test(text)).map(({ file }) => file)).toEqual([])
  })

  test('the subject of a new commit is `type(module): summary`, with 72 characters at most', () => {
    // Those that are not pushed yet: they can still be changed. A clone without `origin/main` shows none.
    const { stdout } = Bun.spawnSync(['git', 'log', '--format=%s', 'origin/main..HEAD'], { stderr: 'ignore' })
    expect(
      stdout
        .toString()
        .split('\n')
        .filter((subject) => subject && !/^(?=.{1,72}$)[a-z]+(?:\([a-z-]+\))?: \S/.test(subject)),
    ).toEqual([])
  })

  test('the console is built of its shell and its parts, and of what 9.2 names', () => {
    const ROOT = 'src/pages/browser/console/'
    const files = screens.filter(({ file }) => file.startsWith(ROOT))
    expect(files.length).toBeGreaterThan(15)
    const packages =
      /^(react(-dom(\/client)?)?|react-aria-components\/\w+|@tanstack\/react-(query|virtual)|wouter|uplot|lucide-react)$/
    const foreign = files.flatMap(({ file, text }) =>
      [...text.matchAll(/^import (type )?[^']*'([^']+)'/gm)]
        .filter(([, , from]) => !from!.startsWith('.'))
        .filter(([, , from]) => !packages.test(from!) || (from === 'uplot' && file !== `${ROOT}ui/chart.tsx`))
        .map(([, , from]) => `${file} -> ${from}`),
    )
    expect(foreign).toEqual([])
    const sectionOf = (path: string) => /^src\/pages\/browser\/console\/sections\/([\w-]+)/.exec(path)?.[1]
    const outside = files.flatMap((source) =>
      importsOf(source).filter(({ file, target }) => {
        const isType = source.text.includes(`import type`) && !target.startsWith('src/pages/browser/')
        if (isType) return false
        if (!target.startsWith(ROOT)) return !target.startsWith('src/pages/browser/shared/')
        if (sectionOf(target)) return sectionOf(target) !== sectionOf(file) && file !== `${ROOT}sections.ts`
        // The parts know neither the shell nor a route.
        return file.startsWith(`${ROOT}ui/`) && !target.startsWith(`${ROOT}ui/`)
      }),
    )
    expect(outside.map(arrow)).toEqual([])
    const calling = files.filter(({ text }) =>
      /(?<![.\w])fetch\(|api\/v1[^'"`\s]*['"`],? \{ method/.test(withoutComments(text)),
    )
    expect(
      calling
        .map(({ file }) => file)
        .filter((file) => !file.startsWith(`${ROOT}shell/`) && !file.endsWith('/samples.ts')),
    ).toEqual([])
    expect(tooLong(files, MAX_LINES)).toEqual([])
    expect(
      files.filter(({ text }) => /\bstyle=|\bclassName=/.test(text)).some(({ text }) => /#[\da-f]{6}\b/.test(text)),
    ).toBe(false)
  })

  test('every file fits on a few screens', () => {
    expect(tooLong([...sources, ...surfaces], MAX_LINES)).toEqual([])
    expect(tooLong(tests, MAX_TEST_LINES)).toEqual([])
  })

  test('a start loads no package that only some requests need', () => {
    const reached = new Set<string>(['src/app/serve'])
    for (const path of reached) {
      const source = sources.find(({ file }) => file === `${path}.ts` || file === `${path}/index.ts`)
      for (const [, name] of source?.text.matchAll(/^(?:import|export)\s+(?!type\s)[^'"]*?from '([^']+)'/gm) ?? [])
        reached.add(name!.startsWith('.') ? normalize(join(dirname(source!.file), name!)) : name!)
    }
    expect(reached.has('elysia')).toBe(true)
    expect([...reached].filter((name) => LATER.test(name))).toEqual([])
  })

  test('a test that may be left out says why', () => {
    // The last three say it themselves.
    const says = /NOT RUN|\b(hasChromium|hasRedis|programOf)\b/
    const left = tests.filter(({ text }) => /\.skipIf\(/.test(text))
    expect(left.length).toBeGreaterThan(20)
    expect(left.filter(({ text }) => !says.test(text)).map(({ file }) => file)).toEqual([])
  })

  test('an assertion on several values names each of them', () => {
    expect(tests.flatMap((source) => unnamedComparisons(source).map((line) => `${source.file}:${line}`))).toEqual([])
    const tuple = { file: 'a.ts', text: "expect([status, code]).toEqual([400, 'conflict'])" }
    expect(unnamedComparisons(tuple)).toEqual([1])
  }, 120_000)

  test('small functions called once, small files with one importer, and files become fewer', () => {
    const product = sources.filter(({ file }) => moduleOf(file) !== 'training')
    const counted = {
      calledOnce: product.flatMap(calledOnce).length,
      smallFiles: smallWithOneImporter(product).length,
      files: product.length,
    }
    for (const [what, limit] of Object.entries(RATCHET))
      expect(counted[what as keyof typeof RATCHET], what).toBeLessThanOrEqual(limit)
  }, 120_000)

  test('names are words of the field', () => {
    const isRefused = (name: string) => {
      const [first = '', ...others] = partsOf(name)
      return REFUSED_FIRST.test(first) || [first, ...others].some((part) => REFUSED.test(part))
    }
    const found = [...sources, ...surfaces, ...tests].flatMap((source) =>
      [...declaredNames(source, isRefused)].map((name) => `${source.file}: ${name}`),
    )
    expect(found).toEqual([])
    const isPrivate = (name: string) => partsOf(name).some((part) => REFUSED_IN_PRODUCT.test(part))
    const inProduct = [...sources, ...surfaces].flatMap((source) =>
      [...declaredNames(source, isPrivate)].map((name) => `${source.file}: ${name}`),
    )
    expect(inProduct).toEqual([])
    const files = [...sources, ...surfaces, ...tests].map(({ file }) => file)
    expect(files.filter((file) => file.split(/\W/).some(isRefused))).toEqual([])
    expect(isRefused('saidTo')).toBe(true)
    expect(isRefused('almost')).toBe(false)
  }, 120_000)
})

/** Comments may name what the code may not do. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
}
