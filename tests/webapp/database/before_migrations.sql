-- What the version before the first migration made on SQLite.
CREATE TABLE run (
    id INTEGER NOT NULL,
    ref VARCHAR NOT NULL,
    study VARCHAR NOT NULL,
    study_version VARCHAR NOT NULL,
    study_folder VARCHAR NOT NULL,
    materials_hash VARCHAR NOT NULL,
    seed BIGINT NOT NULL,
    recruiter VARCHAR NOT NULL,
    simulated BOOLEAN NOT NULL,
    code_version VARCHAR NOT NULL,
    launched_at DATETIME NOT NULL,
    language VARCHAR NOT NULL,
    lease_minutes INTEGER NOT NULL,
    closed_at DATETIME,
    CONSTRAINT pk_run PRIMARY KEY (id),
    CONSTRAINT uq_run_ref UNIQUE (ref)
);

CREATE TABLE participant (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    ref VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    platform_id VARCHAR,
    visit_mark VARCHAR,
    state VARCHAR NOT NULL,
    list INTEGER,
    place INTEGER,
    arrived_at DATETIME NOT NULL,
    consented_at DATETIME,
    returned_at DATETIME,
    finished_at DATETIME,
    CONSTRAINT pk_participant PRIMARY KEY (id),
    CONSTRAINT uq_participant_run_id_number UNIQUE (run_id, number),
    CONSTRAINT uq_participant_run_id_platform_id UNIQUE (run_id, platform_id),
    CONSTRAINT uq_participant_run_id_visit_mark UNIQUE (run_id, visit_mark),
    CONSTRAINT fk_participant_run_id_run FOREIGN KEY(run_id) REFERENCES run (id),
    CONSTRAINT uq_participant_ref UNIQUE (ref)
);

CREATE TABLE run_item (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    list INTEGER NOT NULL,
    list_order INTEGER NOT NULL,
    item_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    item JSON NOT NULL,
    CONSTRAINT pk_run_item PRIMARY KEY (id),
    CONSTRAINT uq_run_item_run_id_item_id UNIQUE (run_id, item_id),
    CONSTRAINT fk_run_item_run_id_run FOREIGN KEY(run_id) REFERENCES run (id)
);

CREATE INDEX ix_run_item_run_id ON run_item (run_id, list);

CREATE TABLE place (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    list INTEGER NOT NULL,
    place INTEGER NOT NULL,
    participant_id INTEGER,
    CONSTRAINT pk_place PRIMARY KEY (id),
    CONSTRAINT uq_place_run_id_list_place UNIQUE (run_id, list, place),
    CONSTRAINT fk_place_run_id_run FOREIGN KEY(run_id) REFERENCES run (id),
    CONSTRAINT uq_place_participant_id UNIQUE (participant_id),
    CONSTRAINT fk_place_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);

CREATE TABLE device (
    id INTEGER NOT NULL,
    participant_id INTEGER NOT NULL,
    user_agent_family VARCHAR NOT NULL,
    refresh_rate_hz DOUBLE,
    time_zone_offset_min INTEGER,
    language VARCHAR NOT NULL,
    CONSTRAINT pk_device PRIMARY KEY (id),
    CONSTRAINT uq_device_participant_id UNIQUE (participant_id),
    CONSTRAINT fk_device_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);

CREATE TABLE event (
    id INTEGER NOT NULL,
    participant_id INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    detail JSON NOT NULL,
    at DATETIME NOT NULL,
    CONSTRAINT pk_event PRIMARY KEY (id),
    CONSTRAINT fk_event_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);

CREATE INDEX ix_event_participant_id ON event (participant_id);

CREATE TABLE answer (
    id INTEGER NOT NULL,
    participant_id INTEGER NOT NULL,
    field VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    CONSTRAINT pk_answer PRIMARY KEY (id),
    CONSTRAINT uq_answer_participant_id_field UNIQUE (participant_id, field),
    CONSTRAINT fk_answer_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);

CREATE TABLE verdict (
    id INTEGER NOT NULL,
    participant_id INTEGER NOT NULL,
    kept BOOLEAN NOT NULL,
    rule VARCHAR NOT NULL,
    evidence VARCHAR NOT NULL,
    decided_at DATETIME NOT NULL,
    CONSTRAINT pk_verdict PRIMARY KEY (id),
    CONSTRAINT uq_verdict_participant_id UNIQUE (participant_id),
    CONSTRAINT fk_verdict_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);

CREATE TABLE trial (
    id INTEGER NOT NULL,
    participant_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    run_item_id INTEGER NOT NULL,
    good_side VARCHAR NOT NULL,
    CONSTRAINT pk_trial PRIMARY KEY (id),
    CONSTRAINT uq_trial_participant_id_position UNIQUE (participant_id, position),
    CONSTRAINT fk_trial_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id),
    CONSTRAINT fk_trial_run_item_id_run_item FOREIGN KEY(run_item_id) REFERENCES run_item (id)
);

CREATE TABLE response (
    id INTEGER NOT NULL,
    trial_id INTEGER NOT NULL,
    client_uuid VARCHAR NOT NULL,
    chosen_side VARCHAR NOT NULL,
    rt_ms DOUBLE,
    input_method VARCHAR NOT NULL,
    viewport_width_px INTEGER,
    viewport_height_px INTEGER,
    was_hidden BOOLEAN,
    lost_focus BOOLEAN,
    client_time DATETIME,
    recorded_at DATETIME NOT NULL,
    CONSTRAINT pk_response PRIMARY KEY (id),
    CONSTRAINT uq_response_trial_id UNIQUE (trial_id),
    CONSTRAINT fk_response_trial_id_trial FOREIGN KEY(trial_id) REFERENCES trial (id)
);
