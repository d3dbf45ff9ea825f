CREATE TABLE `engine_settings` (
	`id` integer PRIMARY KEY NOT NULL,
	`revision` integer NOT NULL,
	`value` text NOT NULL
);
