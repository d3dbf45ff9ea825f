/** Skills: manifests, their review and publication, installing them, and what is active in a run. */
export { Manifest, type SkillManifest, withDefaults } from './manifest'
