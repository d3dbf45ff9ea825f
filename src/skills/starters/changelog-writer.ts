import type { WrittenManifest } from '../manifest'
import { BY_US } from './author'

const RULES = `# What goes where

Added is for new features, Changed for changes in existing ones, Deprecated for what will go, Removed for what is gone, Fixed for bug fixes, Security for vulnerabilities.

# Which version

A breaking change raises the first number, a feature the second, a fix the third. Before 1.0.0 a breaking change raises the second.

# How an entry reads

An entry says what a user notices, in the present tense, and names the setting or the command: "Exports keep time zones". Refactorings, tests and version bumps of dependencies are left out unless a user notices them.

A breaking change says what to do: "Rename timeout to timeout_ms and multiply it by 1,000".
`

export const changelogWriter: WrittenManifest = {
  ...BY_US,
  name: 'Changelog writer',
  slug: 'changelog-writer',
  version: '1.0.0',
  description: 'Writes release notes from commits or a diff, grouped, in words users understand.',
  category: 'automation',
  systemPromptExtension:
    'When the user gives commits, a diff or a list of changes, write release notes in Markdown under the headings Added, ' +
    'Changed, Deprecated, Removed, Fixed, Security, leaving out empty ones. One line an entry, saying what a user notices. ' +
    'Merge commits that belong together. Put breaking changes first, each with what to do about it. Suggest the next ' +
    'version number and say why.',
  knowledge: ['knowledge/changelogs.md'],
  knowledgeFiles: { 'knowledge/changelogs.md': RULES },
  keywords: ['changelog', 'releases', 'semver'],
  readme: '# Changelog writer\n\nPaste the output of git log, get release notes.\n',
}
