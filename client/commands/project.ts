import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Project } from '../../src/pages/mcp-schema'
import { editorsFound, install } from './editors'
import { CommandFailure, type SvcShell } from './shell'

const FILE = 'svc.config.json'
const RULES = `# Rules for agents

- Questions that need several sources go to the tool svc_research, pictures to svc_image, documents to svc_document.
- Send no secrets in prompts. The key stays in SVC_API_KEY.
- Costs are shown by GET /usage; research and video cost the most.
`

/** \`svc init\`: the project's settings, the entries of the editors that are found, and rules for agents. */
export function init(shell: SvcShell, folder = '.'): void {
  const cwd = resolve(shell.cwd, folder)
  mkdirSync(join(cwd, '.svc'), { recursive: true })
  const config = join(cwd, FILE)
  if (existsSync(config)) shell.out(`${FILE} is there already, and was left as it is.`)
  else {
    writeFileSync(config, `${JSON.stringify({ persona: 'svc', skills: [], defaultMode: 'auto' }, null, 2)}\n`)
    shell.out(`wrote ${FILE}`)
  }
  for (const name of editorsFound({ ...shell, cwd })) shell.out(`wrote ${install({ ...shell, cwd }, name)} (${name})`)
  writeFileSync(join(cwd, '.svc/RULES.md'), RULES)
  shell.out('wrote .svc/RULES.md')
}

/** The project's settings; code is only run where SVC_ALLOW_JS_CONFIG=1 says so (contract 23.3). */
export async function projectOf({ cwd, env }: SvcShell): Promise<Project> {
  const file = join(cwd, FILE)
  if (existsSync(file)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Project
    } catch {
      throw new CommandFailure(`${FILE} is not JSON.`)
    }
  }
  const program = ['svc.config.js', 'svc.config.ts'].map((name) => join(cwd, name)).find((name) => existsSync(name))
  if (!program || env.SVC_ALLOW_JS_CONFIG !== '1') return {}
  const { default: project } = (await import(pathToFileURL(program).href)) as { default: Project }
  return project
}
