export { MANIFEST_LIMITS, Manifest, type SkillManifest, type WrittenManifest, withDefaults } from './manifest'
