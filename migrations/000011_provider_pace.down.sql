DROP TABLE provider_pace;
