BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0004');
CREATE TABLE answer (
	id INTEGER NOT NULL, 
	participant_id INTEGER NOT NULL, 
	field VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	CONSTRAINT pk_answer PRIMARY KEY (id), 
	CONSTRAINT uq_answer_participant_id_field UNIQUE (participant_id, field), 
	CONSTRAINT fk_answer_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);
INSERT INTO "answer" VALUES(1,1,'native_language','simulated');
INSERT INTO "answer" VALUES(2,2,'native_language','simulated');
INSERT INTO "answer" VALUES(3,3,'native_language','simulated');
INSERT INTO "answer" VALUES(4,4,'native_language','simulated');
INSERT INTO "answer" VALUES(5,5,'native_language','simulated');
INSERT INTO "answer" VALUES(6,6,'native_language','simulated');
INSERT INTO "answer" VALUES(7,7,'native_language','simulated');
INSERT INTO "answer" VALUES(8,8,'native_language','simulated');
INSERT INTO "answer" VALUES(9,9,'native_language','English');
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	hit_id INTEGER, 
	platform_id VARCHAR NOT NULL, 
	participant_id INTEGER, 
	worker_id VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	submit_to VARCHAR NOT NULL, 
	receipt VARCHAR NOT NULL, 
	accepted_at DATETIME NOT NULL, 
	submitted_at DATETIME, 
	granted_at DATETIME, 
	seen_at DATETIME, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT uq_assignment_platform_id_worker_id UNIQUE (platform_id, worker_id), 
	CONSTRAINT fk_assignment_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_assignment_hit_id_hit FOREIGN KEY(hit_id) REFERENCES hit (id), 
	CONSTRAINT fk_assignment_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);
INSERT INTO "assignment" VALUES(1,1,1,'3AKXI9S75G9ZCVZ3P3C7P98Y75POA1',1,'AKF4ANRP4J78W1','approved','http://127.0.0.1:42465','jryg8fmgydv8.MoVNaGfX6Hy7TvIyemFo8xe0R9E','2026-11-22 06:46:35.613731','2026-11-22 06:46:36.028821','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(2,1,1,'323P12034P9WZE1UE2PWWD1M3BWY2N',2,'AKF4ANRP4J78W2','approved','http://127.0.0.1:42465','zzyehh52mc6u.Fqk2F8bEoCjHMauAH69GizRG93k','2026-11-22 06:46:36.330618','2026-11-22 06:46:36.544688','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(3,1,1,'3BZ7X697IOF3OKJ6B93XLKNIUN9BP0',3,'AKF4ANRP4J78W3','approved','http://127.0.0.1:42465','v2kvgp7r6q8j.3wS7XNQYMI6l3wRzeVzHS9vfwxA','2026-11-22 06:46:36.600592','2026-11-22 06:46:37.016371','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(4,1,1,'3UL2MVVHP5FP0TLYKEK3EHGQOC2OA9',4,'AKF4ANRP4J78W4','approved','http://127.0.0.1:42465','53n8jkvka4eg.Aw5zRSZr3eQ4AvAwFSPkOlLfO1E','2026-11-22 06:46:36.821757','2026-11-22 06:46:37.529839','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(5,1,1,'3ZFWNY6MGTQQJLXKM8HD6N8R0QZ5VY',5,'AKF4ANRP4J78W5','approved','http://127.0.0.1:42465','pz8j4yanycjx.-va8XaxL9QDs61_g2kdn4Le98EE','2026-11-22 06:46:37.054895','2026-11-22 06:46:37.589375','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(6,1,1,'3N3K48QC1IBYT5EEW2PFU81V87HI81',6,'AKF4ANRP4J78W6','approved','http://127.0.0.1:42465','yjbbjrum8rvf.FrarUtr8m0JzVxzh7rl7bO5nMxY','2026-11-22 06:46:37.339708','2026-11-22 06:46:37.698974','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(7,1,1,'3ZAWZJ2BOV648S1CFD1GA5BKJWE8TU',7,'AKF4ANRP4J78W7','approved','http://127.0.0.1:42465','hd2murt7r76n.7O0Vo291YeAuYdxfVDWJjojwM2A','2026-11-22 06:46:37.701046','2026-11-22 06:46:37.966152','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
INSERT INTO "assignment" VALUES(8,1,1,'3LFON878K40ZOFE8LG033943RFT63R',8,'AKF4ANRP4J78W8','approved','http://127.0.0.1:42465','xjnjz4evdqf5.Cqyh1luyrgV7EpPiB4li-Fd6QiQ','2026-11-22 06:46:37.976813','2026-11-22 06:46:38.143406','2026-11-22 06:46:38.409668','2026-11-22 06:46:40.340587');
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
INSERT INTO "device" VALUES(1,1,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(2,2,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(3,3,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(4,4,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(5,5,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(6,6,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(7,7,'simulated',NULL,0,'');
INSERT INTO "device" VALUES(8,8,'simulated',NULL,0,'');
CREATE TABLE event (
	id INTEGER NOT NULL, 
	participant_id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	detail JSON NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT fk_event_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id)
);
CREATE TABLE hit (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	token VARCHAR NOT NULL, 
	purpose VARCHAR NOT NULL, 
	places INTEGER NOT NULL, 
	platform_id VARCHAR, 
	hit_type_id VARCHAR, 
	called_at DATETIME, 
	posted_at DATETIME, 
	expires_at DATETIME, 
	CONSTRAINT pk_hit PRIMARY KEY (id), 
	CONSTRAINT fk_hit_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT uq_hit_token UNIQUE (token), 
	CONSTRAINT uq_hit_platform_id UNIQUE (platform_id)
);
INSERT INTO "hit" VALUES(1,1,'0eac12ac920e261d36ca0c7e5ad2a7e13ee6a8e10faebe3436e77563d347197e','recruitment',8,'3INQLNMEKONUCQ767KV0FLGH46VX7X','3G91T2E64I5R7JSXJA3GMHYOZFRALZ','2026-11-22 06:46:34.941700','2026-11-22 06:46:35.002778','2026-11-25 06:46:35.002802');
CREATE TABLE participant (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	ref VARCHAR NOT NULL, 
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
	CONSTRAINT uq_participant_run_id_platform_id UNIQUE (run_id, platform_id), 
	CONSTRAINT uq_participant_run_id_visit_mark UNIQUE (run_id, visit_mark), 
	CONSTRAINT fk_participant_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT uq_participant_ref UNIQUE (ref)
);
INSERT INTO "participant" VALUES(1,1,'jryg8fmgydv8','AKF4ANRP4J78W1',NULL,'finished',0,0,'2026-11-22 06:46:35.561344','2026-11-22 06:46:35.561344',NULL,'2026-11-22 06:46:35.966200');
INSERT INTO "participant" VALUES(2,1,'zzyehh52mc6u','AKF4ANRP4J78W2',NULL,'finished',1,0,'2026-11-22 06:46:36.294652','2026-11-22 06:46:36.294652',NULL,'2026-11-22 06:46:36.519311');
INSERT INTO "participant" VALUES(3,1,'v2kvgp7r6q8j','AKF4ANRP4J78W3',NULL,'finished',0,1,'2026-11-22 06:46:36.529088','2026-11-22 06:46:36.529088',NULL,'2026-11-22 06:46:36.955621');
INSERT INTO "participant" VALUES(4,1,'53n8jkvka4eg','AKF4ANRP4J78W4',NULL,'finished',1,1,'2026-11-22 06:46:36.792329','2026-11-22 06:46:36.792329',NULL,'2026-11-22 06:46:37.438640');
INSERT INTO "participant" VALUES(5,1,'pz8j4yanycjx','AKF4ANRP4J78W5',NULL,'finished',0,2,'2026-11-22 06:46:37.024407','2026-11-22 06:46:37.024407',NULL,'2026-11-22 06:46:37.463421');
INSERT INTO "participant" VALUES(6,1,'yjbbjrum8rvf','AKF4ANRP4J78W6',NULL,'finished',1,2,'2026-11-22 06:46:37.318613','2026-11-22 06:46:37.318613',NULL,'2026-11-22 06:46:37.668539');
INSERT INTO "participant" VALUES(7,1,'hd2murt7r76n','AKF4ANRP4J78W7',NULL,'finished',0,3,'2026-11-22 06:46:37.684189','2026-11-22 06:46:37.684189',NULL,'2026-11-22 06:46:37.924519');
INSERT INTO "participant" VALUES(8,1,'xjnjz4evdqf5','AKF4ANRP4J78W8',NULL,'finished',1,3,'2026-11-22 06:46:37.963887','2026-11-22 06:46:37.963887',NULL,'2026-11-22 06:46:38.122223');
INSERT INTO "participant" VALUES(9,2,'9pr2j5wksbgm',NULL,NULL,'finished',0,0,'2026-11-22 07:00:30.000000','2026-11-22 07:00:30.000000',NULL,'2026-11-22 07:01:02.000000');
INSERT INTO "participant" VALUES(10,2,'7wjtu9m89e46',NULL,NULL,'declined',NULL,NULL,'2026-11-22 07:01:32.000000',NULL,NULL,NULL);
INSERT INTO "participant" VALUES(11,2,'fdfsau9pjtc7',NULL,NULL,'working',1,0,'2026-11-22 07:02:02.000000','2026-11-22 07:02:02.000000',NULL,NULL);
CREATE TABLE payment (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	participant_id INTEGER, 
	worker_id VARCHAR NOT NULL, 
	assignment VARCHAR, 
	kind VARCHAR NOT NULL, 
	amount_cents INTEGER NOT NULL, 
	reason VARCHAR NOT NULL, 
	token VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	made_at DATETIME NOT NULL, 
	called_at DATETIME, 
	settled_at DATETIME, 
	answer VARCHAR NOT NULL, 
	CONSTRAINT pk_payment PRIMARY KEY (id), 
	CONSTRAINT fk_payment_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	CONSTRAINT fk_payment_participant_id_participant FOREIGN KEY(participant_id) REFERENCES participant (id), 
	CONSTRAINT uq_payment_token UNIQUE (token)
);
INSERT INTO "payment" VALUES(1,1,1,'AKF4ANRP4J78W1','3AKXI9S75G9ZCVZ3P3C7P98Y75POA1','reward',20,'Thank you for taking part.','3f4e5e6dfa162f362e06738547b758d3e6f1fb3bbe39a254e409227147c4fe28','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:38.773756','2026-11-22 06:46:38.818842','');
INSERT INTO "payment" VALUES(2,1,2,'AKF4ANRP4J78W2','323P12034P9WZE1UE2PWWD1M3BWY2N','reward',20,'Thank you for taking part.','262bbb9df4843538bb72913bde19bae2a96ce4c7f4cbbbc80ffc124e3e85b745','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:38.826955','2026-11-22 06:46:38.864081','');
INSERT INTO "payment" VALUES(3,1,3,'AKF4ANRP4J78W3','3BZ7X697IOF3OKJ6B93XLKNIUN9BP0','reward',20,'Thank you for taking part.','c619534e7e285f86aa5ae7e8ee5ab8bf052d6f9a4d483b0119bb7c7a0b1c6895','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:38.876425','2026-11-22 06:46:38.914891','');
INSERT INTO "payment" VALUES(4,1,4,'AKF4ANRP4J78W4','3UL2MVVHP5FP0TLYKEK3EHGQOC2OA9','reward',20,'Thank you for taking part.','14c5820d2237a52bacb6934d2bb76b3fa3ca77cdd5eb9b9d4ac860942547a578','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:38.925805','2026-11-22 06:46:38.956660','');
INSERT INTO "payment" VALUES(5,1,5,'AKF4ANRP4J78W5','3ZFWNY6MGTQQJLXKM8HD6N8R0QZ5VY','reward',20,'Thank you for taking part.','cf63d878ad1bd6642861178f8ea5de7a78299830e778be7e76fe0fde9066db7f','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:38.969734','2026-11-22 06:46:39.000621','');
INSERT INTO "payment" VALUES(6,1,6,'AKF4ANRP4J78W6','3N3K48QC1IBYT5EEW2PFU81V87HI81','reward',20,'Thank you for taking part.','cedb6faad0cadabe436437298697e727e65a45417560167bf97584884ec2d29b','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:39.013735','2026-11-22 06:46:39.042449','');
INSERT INTO "payment" VALUES(7,1,7,'AKF4ANRP4J78W7','3ZAWZJ2BOV648S1CFD1GA5BKJWE8TU','reward',20,'Thank you for taking part.','74ac24c91693689c39e2481af662d41359723a737bfc9f26dca5a0c746607407','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:39.058503','2026-11-22 06:46:39.098615','');
INSERT INTO "payment" VALUES(8,1,8,'AKF4ANRP4J78W8','3LFON878K40ZOFE8LG033943RFT63R','reward',20,'Thank you for taking part.','71c8e7912ffdb87ac37edfc8eee11bbd538157db7b345d7a72ad8a2ffda9e75c','done','2026-11-22 06:46:38.758979','2026-11-22 06:46:39.100479','2026-11-22 06:46:39.138533','');
INSERT INTO "payment" VALUES(9,1,1,'AKF4ANRP4J78W1','3AKXI9S75G9ZCVZ3P3C7P98Y75POA1','bonus',25,'You were the first.','d4a66196a088c9d0dd718fa32f3664b3105790acec0aaa061e019ae76de58b47','done','2026-11-22 06:46:39.978943','2026-11-22 06:46:39.980734','2026-11-22 06:46:40.006439','');
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
INSERT INTO "place" VALUES(1,1,0,0,1);
INSERT INTO "place" VALUES(2,1,0,1,3);
INSERT INTO "place" VALUES(3,1,0,2,5);
INSERT INTO "place" VALUES(4,1,0,3,7);
INSERT INTO "place" VALUES(5,1,1,0,2);
INSERT INTO "place" VALUES(6,1,1,1,4);
INSERT INTO "place" VALUES(7,1,1,2,6);
INSERT INTO "place" VALUES(8,1,1,3,8);
INSERT INTO "place" VALUES(9,2,0,0,9);
INSERT INTO "place" VALUES(10,2,0,1,NULL);
INSERT INTO "place" VALUES(11,2,0,2,NULL);
INSERT INTO "place" VALUES(12,2,0,3,NULL);
INSERT INTO "place" VALUES(13,2,1,0,11);
INSERT INTO "place" VALUES(14,2,1,1,NULL);
INSERT INTO "place" VALUES(15,2,1,2,NULL);
INSERT INTO "place" VALUES(16,2,1,3,NULL);
CREATE TABLE recruitment (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	endpoint VARCHAR NOT NULL, 
	qualification_id VARCHAR, 
	published_at DATETIME NOT NULL, 
	CONSTRAINT pk_recruitment PRIMARY KEY (id), 
	CONSTRAINT uq_recruitment_run_id UNIQUE (run_id), 
	CONSTRAINT fk_recruitment_run_id_run FOREIGN KEY(run_id) REFERENCES run (id)
);
INSERT INTO "recruitment" VALUES(1,1,'http://127.0.0.1:42465','3ZH9OEYAWI5G339TF0LT5WIDLAYR66','2026-11-22 06:46:34.810635');
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
INSERT INTO "response" VALUES(1,1,'90493879-ee60-4c0d-8d41-33f181535b59','second',3721.5,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.726953','2026-11-22 06:46:35.728079');
INSERT INTO "response" VALUES(2,2,'80822386-a38d-4cba-9669-eb7012662b16','first',3719.0,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.772477','2026-11-22 06:46:35.773667');
INSERT INTO "response" VALUES(3,3,'da737a99-eb4f-4362-a046-a105fe114248','second',4237.7,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.782786','2026-11-22 06:46:35.783828');
INSERT INTO "response" VALUES(4,4,'c4493c0f-78e3-4956-b50b-a5f326cfb0f4','second',9341.1,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.793673','2026-11-22 06:46:35.802362');
INSERT INTO "response" VALUES(5,5,'b5c580d3-345c-4e1d-90a3-6d45b0d17dca','first',2775.8,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.820162','2026-11-22 06:46:35.822307');
INSERT INTO "response" VALUES(6,6,'d244dad7-2fb7-46fe-a60c-ce2d1d3978a6','second',1989.3,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.847444','2026-11-22 06:46:35.848634');
INSERT INTO "response" VALUES(7,7,'c28a1413-6b0d-4edb-b046-00cabc241936','first',3956.6,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.863363','2026-11-22 06:46:35.866527');
INSERT INTO "response" VALUES(8,8,'119a4b4e-395a-4bb8-bc57-9682581f0866','second',5415.2,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:35.878409','2026-11-22 06:46:35.886373');
INSERT INTO "response" VALUES(9,9,'e83b1d15-4e49-4dfb-8651-128f51e8ef87','first',1603.1,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.399046','2026-11-22 06:46:36.401458');
INSERT INTO "response" VALUES(10,10,'5038f821-429f-4861-b2eb-75305d0c6d0d','first',1503.3,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.416856','2026-11-22 06:46:36.421970');
INSERT INTO "response" VALUES(11,11,'0b9a58d4-04e7-4a2c-89ef-58c57cf839ef','second',4601.0,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.438223','2026-11-22 06:46:36.439062');
INSERT INTO "response" VALUES(12,12,'6c5eb954-9ffa-4827-b70d-6005883d04e5','second',1861.5,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.449329','2026-11-22 06:46:36.450196');
INSERT INTO "response" VALUES(13,13,'9d004e03-fb9f-4f1b-8ea8-e344a6ab2b7b','first',5992.0,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.469965','2026-11-22 06:46:36.470741');
INSERT INTO "response" VALUES(14,14,'f25050ea-78f4-40a9-98c3-4ca95cee482d','first',4242.3,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.478424','2026-11-22 06:46:36.482034');
INSERT INTO "response" VALUES(15,15,'a34d6c93-21ef-432b-90a5-d1871d0a0fdc','second',7437.8,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.494390','2026-11-22 06:46:36.495721');
INSERT INTO "response" VALUES(16,16,'eb462150-86a9-4d4a-978e-0e21f1f54411','second',7551.2,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.502367','2026-11-22 06:46:36.503075');
INSERT INTO "response" VALUES(17,17,'20d3c7af-ba37-444b-b8bb-16fd10af9a88','second',2254.9,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.723102','2026-11-22 06:46:36.725058');
INSERT INTO "response" VALUES(18,18,'71a326df-4c6e-43d3-9b98-013542897133','second',1712.2,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.740244','2026-11-22 06:46:36.741509');
INSERT INTO "response" VALUES(19,19,'211e16a7-5aca-44ac-a9ff-4031e1f0e97d','second',8063.9,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.762279','2026-11-22 06:46:36.766106');
INSERT INTO "response" VALUES(20,20,'43fedbd6-6f1d-4ccc-9b29-825a2882f2f6','second',1886.9,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.776264','2026-11-22 06:46:36.777032');
INSERT INTO "response" VALUES(21,21,'aab9eef6-3f85-41fe-9238-b741bf87faa0','first',2448.1,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.790922','2026-11-22 06:46:36.791754');
INSERT INTO "response" VALUES(22,22,'e878d456-4976-431f-a54d-dd877c9b1c57','first',6059.3,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.853081','2026-11-22 06:46:36.858858');
INSERT INTO "response" VALUES(23,23,'1e124149-e2c0-4abb-9762-7893e86c88e7','first',2408.4,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.878711','2026-11-22 06:46:36.885863');
INSERT INTO "response" VALUES(24,24,'aa91cf7c-b7a9-4952-b77c-e4d07b349b33','first',2377.0,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:36.912582','2026-11-22 06:46:36.915097');
INSERT INTO "response" VALUES(25,25,'35488c7f-2d38-481e-af1f-1509834c19bc','first',1446.4,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.019752','2026-11-22 06:46:37.086339');
INSERT INTO "response" VALUES(26,26,'ec5a6b52-99ef-41af-ae6a-f72cdbee7ef4','second',2761.6,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.103807','2026-11-22 06:46:37.117355');
INSERT INTO "response" VALUES(27,33,'31c3bde6-1465-4e5b-9c12-c1fd29ad21ec','second',3833.8,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.130015','2026-11-22 06:46:37.131127');
INSERT INTO "response" VALUES(28,27,'af827525-1947-412c-a088-9adb808485c3','second',2610.1,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.136590','2026-11-22 06:46:37.137993');
INSERT INTO "response" VALUES(29,34,'b57ab551-4c3e-449f-ac8d-dd9197171f1b','first',7578.5,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.170780','2026-11-22 06:46:37.178232');
INSERT INTO "response" VALUES(30,28,'278a4f1b-c3bb-4815-93c6-c644dc824878','first',5300.9,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.188994','2026-11-22 06:46:37.190131');
INSERT INTO "response" VALUES(31,35,'57e5a26d-1f43-4cbf-90ad-7c4d6e2fc2d2','first',4106.8,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.201370','2026-11-22 06:46:37.206391');
INSERT INTO "response" VALUES(32,36,'18a854e1-4156-48dc-826b-70629d8d4c30','first',5443.5,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.220973','2026-11-22 06:46:37.221944');
INSERT INTO "response" VALUES(33,29,'3f36b5d6-ef9e-49c3-bd8a-3a3b7e897ca4','second',4836.0,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.211824','2026-11-22 06:46:37.223203');
INSERT INTO "response" VALUES(34,37,'8c1de57d-143e-4334-936c-f6d1058f4d0f','first',2042.3,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.243064','2026-11-22 06:46:37.246981');
INSERT INTO "response" VALUES(35,30,'f114e6b2-44fe-4d77-a97c-40c1f5dfa50e','first',2916.4,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.245475','2026-11-22 06:46:37.252676');
INSERT INTO "response" VALUES(36,38,'b5a642b7-6685-4acf-acf7-57e1d041567b','second',3712.9,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.264793','2026-11-22 06:46:37.274926');
INSERT INTO "response" VALUES(37,39,'653ba312-8499-41b2-8072-3573f35c4620','second',1768.0,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.295391','2026-11-22 06:46:37.296610');
INSERT INTO "response" VALUES(38,31,'e3038897-6a5b-4872-a655-51538f03e38d','first',4936.4,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.277995','2026-11-22 06:46:37.286243');
INSERT INTO "response" VALUES(39,40,'c17f05d7-9730-431f-8836-58369c5ab10e','second',3897.2,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.312614','2026-11-22 06:46:37.313679');
INSERT INTO "response" VALUES(40,32,'956fa8d8-a3b4-454c-8001-e6f5571cdcc7','second',2155.8,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.317944','2026-11-22 06:46:37.356212');
INSERT INTO "response" VALUES(41,41,'97f817b8-104b-49bc-ad05-f436ef6d32b3','second',2997.1,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.406384','2026-11-22 06:46:37.423612');
INSERT INTO "response" VALUES(42,42,'89c29475-176c-421f-b1f6-a112bbab37bd','second',2272.9,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.439951','2026-11-22 06:46:37.462537');
INSERT INTO "response" VALUES(43,43,'991436cf-b86a-41e5-9925-77b34ea11b71','first',4009.3,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.514740','2026-11-22 06:46:37.529610');
INSERT INTO "response" VALUES(44,44,'fe5483bc-f263-4328-92f3-91f7e349960e','first',2175.3,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.553291','2026-11-22 06:46:37.554432');
INSERT INTO "response" VALUES(45,45,'166a736c-f066-4b9e-815a-195e26a67dd1','first',6299.4,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.588033','2026-11-22 06:46:37.589695');
INSERT INTO "response" VALUES(46,46,'78351054-95e9-42f9-b914-4639906c9c2e','first',3393.9,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.610716','2026-11-22 06:46:37.611656');
INSERT INTO "response" VALUES(47,47,'f42c2050-31c0-4bee-9112-4e65e4976ca1','second',3662.1,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.634190','2026-11-22 06:46:37.635421');
INSERT INTO "response" VALUES(48,48,'dc014314-fac4-4275-9ee7-e401fdf24538','second',2392.5,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.642918','2026-11-22 06:46:37.645770');
INSERT INTO "response" VALUES(49,49,'6ad53d72-7032-450e-a9f2-19b5bc809326','first',2100.9,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.763647','2026-11-22 06:46:37.764542');
INSERT INTO "response" VALUES(50,50,'e022b4bf-e05f-47f5-a21c-5d5bcaea3122','first',11386.4,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.783594','2026-11-22 06:46:37.784931');
INSERT INTO "response" VALUES(51,51,'ccaa9b44-0d24-49c3-a895-c91b4c1f52e8','second',2447.5,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.795072','2026-11-22 06:46:37.796850');
INSERT INTO "response" VALUES(52,52,'7d6eb32e-3539-43a6-a2ee-fc5d7612a7f9','second',1938.6,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.826155','2026-11-22 06:46:37.828609');
INSERT INTO "response" VALUES(53,53,'f4e46eee-a3d2-4508-8534-b62bd343644e','second',3865.0,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.843947','2026-11-22 06:46:37.845487');
INSERT INTO "response" VALUES(54,54,'187677f5-1932-4efb-86ca-342018e4de8d','first',4560.1,'key',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.865893','2026-11-22 06:46:37.870110');
INSERT INTO "response" VALUES(55,55,'755ef4d4-e13e-4b9d-8889-c65a848f8f47','first',5682.3,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.887589','2026-11-22 06:46:37.888415');
INSERT INTO "response" VALUES(56,56,'507f70a9-a151-463c-b5f8-0552030e4604','second',1750.3,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:37.893882','2026-11-22 06:46:37.894659');
INSERT INTO "response" VALUES(57,57,'bac8712a-4283-45e4-8c2f-defcf6f4ab72','second',6904.5,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.034088','2026-11-22 06:46:38.034961');
INSERT INTO "response" VALUES(58,58,'5a311048-bc2a-49c5-9b28-6a25d4e6afde','second',4929.6,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.049825','2026-11-22 06:46:38.050640');
INSERT INTO "response" VALUES(59,59,'02d40699-fed1-4369-a39b-109624c5114e','first',4264.0,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.060043','2026-11-22 06:46:38.060734');
INSERT INTO "response" VALUES(60,60,'bb073667-8601-4b25-b315-4596530d4904','first',7771.2,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.070589','2026-11-22 06:46:38.071372');
INSERT INTO "response" VALUES(61,61,'132b46f7-6f58-413c-8d6c-d739f156c471','second',3825.1,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.082531','2026-11-22 06:46:38.083362');
INSERT INTO "response" VALUES(62,62,'13fcc8af-1a5f-4494-8dd5-4f757736156b','first',2097.7,'touch',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.090414','2026-11-22 06:46:38.091099');
INSERT INTO "response" VALUES(63,63,'c8cf4882-b58c-4146-a9d9-cef272f6d4a1','first',3424.1,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.098513','2026-11-22 06:46:38.099409');
INSERT INTO "response" VALUES(64,64,'86c5108e-c488-41ed-aae2-d79c0a998ba7','second',4789.9,'pointer',NULL,NULL,NULL,NULL,'2026-11-22 06:46:38.110414','2026-11-22 06:46:38.111083');
INSERT INTO "response" VALUES(65,65,'e6786ec5-8630-4fff-8dfe-1f05ee7139ea','first',813.5,'key',1280,720,0,0,'2026-11-22 07:00:34.000000','2026-11-22 07:00:34.000000');
INSERT INTO "response" VALUES(66,66,'75a9ea47-5d31-4ef4-bbb7-35d43c7a49c0','first',814.5,'key',1280,720,0,0,'2026-11-22 07:00:38.000000','2026-11-22 07:00:38.000000');
INSERT INTO "response" VALUES(67,67,'83a53ca0-b8a7-4922-bfd0-aa5dc010d6a1','first',815.5,'key',1280,720,0,0,'2026-11-22 07:00:42.000000','2026-11-22 07:00:42.000000');
INSERT INTO "response" VALUES(68,68,'bdc7b9ce-5302-4ddb-83b6-a1c985cd08d0','first',816.5,'key',1280,720,0,0,'2026-11-22 07:00:46.000000','2026-11-22 07:00:46.000000');
INSERT INTO "response" VALUES(69,69,'0798c3b5-42b0-47b1-bbf4-d26c8a05bfa5','first',817.5,'key',1280,720,0,0,'2026-11-22 07:00:50.000000','2026-11-22 07:00:50.000000');
INSERT INTO "response" VALUES(70,70,'8d7866d2-6508-47f4-9287-a0e4a69ef65a','first',818.5,'key',1280,720,0,0,'2026-11-22 07:00:54.000000','2026-11-22 07:00:54.000000');
INSERT INTO "response" VALUES(71,71,'257d6964-bd22-43f7-97b3-760cc79387f8','first',819.5,'key',1280,720,0,0,'2026-11-22 07:00:58.000000','2026-11-22 07:00:58.000000');
INSERT INTO "response" VALUES(72,72,'d6431c93-c4ee-4034-80da-81a112c26197','first',820.5,'key',1280,720,0,0,'2026-11-22 07:01:02.000000','2026-11-22 07:01:02.000000');
INSERT INTO "response" VALUES(73,73,'3cfa4d63-952f-4f6f-a8ee-bcc5df386d7f','second',813.5,'key',1280,720,0,0,'2026-11-22 07:02:06.000000','2026-11-22 07:02:06.000000');
INSERT INTO "response" VALUES(74,74,'2509a396-24c2-4fef-afc6-0e14ed9e64d5','second',814.5,'key',1280,720,0,0,'2026-11-22 07:02:10.000000','2026-11-22 07:02:10.000000');
INSERT INTO "response" VALUES(75,75,'d21ddfb7-1b25-4226-b033-738bfd6853ac','second',815.5,'key',1280,720,0,0,'2026-11-22 07:02:14.000000','2026-11-22 07:02:14.000000');
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
INSERT INTO "run" VALUES(1,'kf4anrp4j78w','minimal','1.0','/studies/minimal','f699943147101781ae95e42c7941ca2f4e7ebbcd4a247983121e6e7758f0514c',1,'mturk',1,'0.1.0+ga39565f','2026-11-22 06:46:33.961037','en',60,NULL);
INSERT INTO "run" VALUES(2,'7q3cnqe86r5x','minimal','1.0','/studies/minimal','f699943147101781ae95e42c7941ca2f4e7ebbcd4a247983121e6e7758f0514c',5,'direct',0,'0.1.0+ga39565f','2026-11-22 06:48:45.405933','en',60,NULL);
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
INSERT INTO "run_item" VALUES(1,1,0,0,'simple-17','target','{"item_id": "simple-17", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=singer V=sleeps", "context": "", "good": "the singer sleeps", "bad": "the singer sleep", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(2,1,0,1,'simple-12','catch','{"item_id": "simple-12", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=neighbor V=dances", "context": "", "good": "the neighbors dance", "bad": "the neighbors dances", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(3,1,0,2,'simple-5','catch','{"item_id": "simple-5", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=child V=sings", "context": "", "good": "the child sings", "bad": "the child sing", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(4,1,0,3,'simple-32','catch','{"item_id": "simple-32", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=baker V=is_happy", "context": "", "good": "the bakers are happy", "bad": "the bakers is happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(5,1,0,4,'across_phrase-67','target','{"item_id": "across_phrase-67", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=singer P=behind N=tree V=dances", "context": "", "good": "the singer behind the trees dances", "bad": "the singer behind the trees dance", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(6,1,0,5,'across_phrase-26','target','{"item_id": "across_phrase-26", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=child P=near N=car V=sleeps", "context": "", "good": "the children near the cars sleep", "bad": "the children near the cars sleeps", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(7,1,0,6,'across_phrase-127','target','{"item_id": "across_phrase-127", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=baker P=near N=car V=is_happy", "context": "", "good": "the baker near the cars is happy", "bad": "the baker near the cars are happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(8,1,0,7,'across_phrase-38','target','{"item_id": "across_phrase-38", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=neighbor P=behind N=tree V=sings", "context": "", "good": "the neighbors behind the trees sing", "bad": "the neighbors behind the trees sings", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(9,1,1,0,'simple-18','target','{"item_id": "simple-18", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=singer V=sleeps", "context": "", "good": "the singers sleep", "bad": "the singers sleeps", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(10,1,1,1,'simple-11','catch','{"item_id": "simple-11", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=neighbor V=dances", "context": "", "good": "the neighbor dances", "bad": "the neighbor dance", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(11,1,1,2,'simple-6','catch','{"item_id": "simple-6", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=child V=sings", "context": "", "good": "the children sing", "bad": "the children sings", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(12,1,1,3,'simple-31','catch','{"item_id": "simple-31", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=baker V=is_happy", "context": "", "good": "the baker is happy", "bad": "the baker are happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(13,1,1,4,'across_phrase-68','target','{"item_id": "across_phrase-68", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=singer P=behind N=tree V=dances", "context": "", "good": "the singers behind the trees dance", "bad": "the singers behind the trees dances", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(14,1,1,5,'across_phrase-25','target','{"item_id": "across_phrase-25", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=child P=near N=car V=sleeps", "context": "", "good": "the child near the cars sleeps", "bad": "the child near the cars sleep", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(15,1,1,6,'across_phrase-128','target','{"item_id": "across_phrase-128", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=baker P=near N=car V=is_happy", "context": "", "good": "the bakers near the cars are happy", "bad": "the bakers near the cars is happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(16,1,1,7,'across_phrase-37','target','{"item_id": "across_phrase-37", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=neighbor P=behind N=tree V=sings", "context": "", "good": "the neighbor behind the trees sings", "bad": "the neighbor behind the trees sing", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(17,2,0,0,'simple-31','target','{"item_id": "simple-31", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=baker V=is_happy", "context": "", "good": "the baker is happy", "bad": "the baker are happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(18,2,0,1,'simple-20','catch','{"item_id": "simple-20", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=singer V=dances", "context": "", "good": "the singers dance", "bad": "the singers dances", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(19,2,0,2,'simple-9','catch','{"item_id": "simple-9", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=neighbor V=sleeps", "context": "", "good": "the neighbor sleeps", "bad": "the neighbor sleep", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(20,2,0,3,'simple-6','catch','{"item_id": "simple-6", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=child V=sings", "context": "", "good": "the children sing", "bad": "the children sings", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(21,2,0,4,'across_phrase-49','target','{"item_id": "across_phrase-49", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=neighbor P=near N=tree V=sleeps", "context": "", "good": "the neighbor near the trees sleeps", "bad": "the neighbor near the trees sleep", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(22,2,0,5,'across_phrase-110','target','{"item_id": "across_phrase-110", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=baker P=behind N=car V=sings", "context": "", "good": "the bakers behind the cars sing", "bad": "the bakers behind the cars sings", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(23,2,0,6,'across_phrase-75','target','{"item_id": "across_phrase-75", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=singer P=behind N=car V=dances", "context": "", "good": "the singer behind the cars dances", "bad": "the singer behind the cars dance", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(24,2,0,7,'across_phrase-24','target','{"item_id": "across_phrase-24", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=child P=near N=tree V=is_happy", "context": "", "good": "the children near the trees are happy", "bad": "the children near the trees is happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(25,2,1,0,'simple-32','target','{"item_id": "simple-32", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=baker V=is_happy", "context": "", "good": "the bakers are happy", "bad": "the bakers is happy", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(26,2,1,1,'simple-19','catch','{"item_id": "simple-19", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=singer V=dances", "context": "", "good": "the singer dances", "bad": "the singer dance", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(27,2,1,2,'simple-10','catch','{"item_id": "simple-10", "kind": "target", "construction": "simple_agreement", "condition": "plural", "template": "simple", "features": "main=plural", "frame": "S=neighbor V=sleeps", "context": "", "good": "the neighbors sleep", "bad": "the neighbors sleeps", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(28,2,1,3,'simple-5','catch','{"item_id": "simple-5", "kind": "target", "construction": "simple_agreement", "condition": "singular", "template": "simple", "features": "main=singular", "frame": "S=child V=sings", "context": "", "good": "the child sings", "bad": "the child sing", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(29,2,1,4,'across_phrase-50','target','{"item_id": "across_phrase-50", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=neighbor P=near N=tree V=sleeps", "context": "", "good": "the neighbors near the trees sleep", "bad": "the neighbors near the trees sleeps", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(30,2,1,5,'across_phrase-109','target','{"item_id": "across_phrase-109", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=baker P=behind N=car V=sings", "context": "", "good": "the baker behind the cars sings", "bad": "the baker behind the cars sing", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(31,2,1,6,'across_phrase-76','target','{"item_id": "across_phrase-76", "kind": "target", "construction": "agreement_across_phrase", "condition": "plural / plural", "template": "across_phrase", "features": "main=plural", "frame": "S=singer P=behind N=car V=dances", "context": "", "good": "the singers behind the cars dance", "bad": "the singers behind the cars dances", "distractor": "", "contrast": "bad"}');
INSERT INTO "run_item" VALUES(32,2,1,7,'across_phrase-23','target','{"item_id": "across_phrase-23", "kind": "target", "construction": "agreement_across_phrase", "condition": "singular / plural", "template": "across_phrase", "features": "main=singular", "frame": "S=child P=near N=tree V=is_happy", "context": "", "good": "the child near the trees is happy", "bad": "the child near the trees are happy", "distractor": "", "contrast": "bad"}');
CREATE TABLE study_file (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_study_file PRIMARY KEY (id), 
	CONSTRAINT uq_study_file_run_id_name UNIQUE (run_id, name), 
	CONSTRAINT fk_study_file_run_id_run FOREIGN KEY(run_id) REFERENCES run (id)
);
INSERT INTO "study_file" VALUES(1,1,'grammar.toml',X'232054776F20636F6E737472756374696F6E732E20496E20746865207365636F6E642C206120706C7572616C206E6F756E206265747765656E207375626A65637420616E642076657262206C656164732072656164657273206173747261792E0A2320646F63732F6D6174657269616C732E6D64206578706C61696E7320746865206E6F746174696F6E2E0A0A5B6C657869636F6E2E7375626A6563745D0A666F726D73203D202273696E67756C6172207C20706C7572616C220A656E7472696573203D205B226368696C64207C206368696C6472656E222C20226E65696768626F72207C206E65696768626F7273222C202273696E676572207C2073696E67657273222C202262616B6572207C2062616B657273225D0A0A5B6C657869636F6E2E766572625D0A666F726D73203D202273696E67756C6172207C20706C7572616C220A656E7472696573203D205B22736C65657073207C20736C656570222C202264616E636573207C2064616E6365222C202273696E6773207C2073696E67222C20226973206861707079207C20617265206861707079225D0A0A5B6C657869636F6E2E617474726163746F725D0A666F726D73203D202273696E67756C6172207C20706C7572616C220A656E7472696573203D205B2274726565207C207472656573222C2022636172207C2063617273225D0A0A5B6C657869636F6E2E707265706F736974696F6E5D0A656E7472696573203D205B22626568696E64222C20226E656172225D0A0A5B5B74656D706C6174655D5D0A6E616D65203D202273696D706C65220A636F6E737472756374696F6E203D202273696D706C655F61677265656D656E74220A636F6E646974696F6E203D20227B6D61696E7D220A6665617475726573203D207B206D61696E203D205B2273696E67756C6172222C2022706C7572616C225D207D0A736C6F7473203D207B2053203D20227375626A656374222C2056203D20227665726222207D0A676F6F64203D2022746865207B532E6D61696E7D207B562E6D61696E7D220A626164203D2022746865207B532E6D61696E7D207B562E216D61696E7D220A0A5B5B74656D706C6174655D5D0A6E616D65203D20226163726F73735F706872617365220A636F6E737472756374696F6E203D202261677265656D656E745F6163726F73735F706872617365220A636F6E646974696F6E203D20227B6D61696E7D202F20706C7572616C220A6665617475726573203D207B206D61696E203D205B2273696E67756C6172222C2022706C7572616C225D207D0A736C6F7473203D207B2053203D20227375626A656374222C2050203D2022707265706F736974696F6E222C204E203D2022617474726163746F72222C2056203D20227665726222207D0A676F6F64203D2022746865207B532E6D61696E7D207B507D20746865207B4E2E706C7572616C7D207B562E6D61696E7D220A626164203D2022746865207B532E6D61696E7D207B507D20746865207B4E2E706C7572616C7D207B562E216D61696E7D220A');
INSERT INTO "study_file" VALUES(2,1,'published.csv',X'7461626C652C636F6E737472756374696F6E2C636F6E646974696F6E2C6A756467652C61636375726163792C736F757263652C6E6F74650A617373756D65642C73696D706C655F61677265656D656E742C2C70656F706C652C302E39372C617373756D656420666F722074686973206578616D706C652C4E6F74206120726573756C743A2073696D756C61746564207061727469636970616E747320616E73776572207769746820746869732061636375726163792E0A617373756D65642C61677265656D656E745F6163726F73735F7068726173652C2C70656F706C652C302E38352C617373756D656420666F722074686973206578616D706C652C4E6F74206120726573756C743A2073696D756C61746564207061727469636970616E747320616E73776572207769746820746869732061636375726163792E0A');
INSERT INTO "study_file" VALUES(3,1,'study.toml',X'23204120636F6D706C657465207374756479207468617420697320617320736D616C6C20617320612073747564792063616E2062653A20636F7079207468697320666F6C64657220746F20626567696E20796F7572206F776E2E0A2320646F63732F737475646965732E6D64206578706C61696E73206576657279206B65792C20646F63732F6D6174657269616C732E6D6420746865206772616D6D61722E0A70726573656E746174696F6E203D202273656E74656E63655F70616972220A0A5B73747564795D0A6E616D65203D20226D696E696D616C2220232074686520666F6C6465722773206E616D650A7469746C65203D202257686963682073656E74656E636520736F756E6473206265747465723F220A76657273696F6E203D2022312E30222023206368616E6765206974207768656E6576657220746865206D6174657269616C73206368616E67650A6C616E6775616765203D2022656E222023207468652074657874732061726520696E2074657874732F656E2F0A0A5B6D6174657269616C735D0A6772616D6D6172203D20226772616D6D61722E746F6D6C220A73686F776E5F746F5F70656F706C65203D202273656E74656E63655F63617365220A676976656E5F746F5F6D6F64656C73203D20226C6F7765725F636173655F746F6B656E73220A0A232054776F206C697374732C20666F757220706C6163657320696E20656163683A206569676874207061727469636970616E7473207769746820656967687420747269616C7320656163682E0A5B64657369676E5D0A6C69737473203D20320A7061727469636970616E74735F7065725F6C697374203D20340A747269616C735F7065725F6C697374203D20380A7365706172617465203D2022636F6E737472756374696F6E222023206E6F2074776F206E65696768626F7572696E6720747269616C7320617265206F66206F6E6520636F6E737472756374696F6E0A0A2320466F7572206672616D657320696E2074776F20636F6E646974696F6E73206D616B65206569676874206974656D732C20666F757220696E2065616368206C6973743A206F6E65207461726765742C20746872656520636174636820747269616C732E0A5B5B64657369676E2E737175617265735D5D0A74656D706C61746573203D205B2273696D706C65225D0A6672616D6573203D20340A63617463685F747269616C73203D20330A0A5B5B64657369676E2E737175617265735D5D0A74656D706C61746573203D205B226163726F73735F706872617365225D0A6672616D6573203D20340A0A232057686F657665722065727273206D6F7265207468616E206F6E6365206F6E2074686520666F7572207061697273206F66207468697320636F6E737472756374696F6E206973206578636C756465642E0A5B5B6578636C7573696F6E5D5D0A72756C65203D20226D61785F6572726F7273220A636F6E737472756374696F6E203D202273696D706C655F61677265656D656E74220A6D61785F6572726F7273203D20310A0A5B5B7175657374696F6E6E616972655D5D0A6E616D65203D20226E61746976655F6C616E6775616765220A6C6162656C203D20225768617420697320796F7572206E6174697665206C616E67756167653F220A74797065203D202274657874220A7265717569726564203D20747275650A0A2320536861726573206F66207468652073696D756C61746564207061727469636970616E74733B20746865792073756D20746F20312E20546865206163637572617465206F6E657320616E737765722061732077656C6C206173207468650A232070656F706C65206F66207075626C69736865642E6373762C2077686572652061207374756479206F6620796F7572206F776E20686173207265616C20726573756C7473206F7220616E20617373756D7074696F6E2E0A5B73696D756C6174696F6E5D0A6D6978203D207B206163637572617465203D20302E38382C206775657373696E67203D20302E30342C20616C776179735F6669727374203D20302E30342C20636172656C657373203D20302E3034207D0A6D656469616E5F72745F6D73203D20333530300A0A23204F6E2077686174207465726D7320776F726B657273206F66206120706179696E6720706C6174666F726D2074616B6520706172743B20646F63732F6D7475726B2E6D642E0A5B726563727569746D656E745D0A6465736372697074696F6E203D2022596F752077696C6C20736565207061697273206F662073686F727420456E676C6973682073656E74656E6365732E20496E206561636820706169722C2063686F6F736520746865206F6E65207468617420736F756E6473206265747465722E220A6B6579776F726473203D205B22656E676C697368222C20226772616D6D6172222C202273656E74656E636573222C20226A7564676D656E74222C20227265736561726368225D0A7265776172645F63656E7473203D2032300A6D656469616E5F6D696E75746573203D20310A6475726174696F6E5F6D696E75746573203D2033300A0A232054686520726F7773206F662074686520726573756C7473207461626C652E0A5B5B636F6E737472756374696F6E735D5D0A6E616D65203D202273696D706C655F61677265656D656E74220A7469746C65203D202253696D706C65220A67726F7570203D20225375626A6563742D766572622061677265656D656E74220A0A5B5B636F6E737472756374696F6E735D5D0A6E616D65203D202261677265656D656E745F6163726F73735F706872617365220A7469746C65203D20224163726F7373206120707265706F736974696F6E616C20706872617365220A67726F7570203D20225375626A6563742D766572622061677265656D656E74220A');
INSERT INTO "study_file" VALUES(4,1,'texts/en/consent.md',X'232054616B696E67207061727420696E20746869732073747564790A0A57652061736B20796F7520746F2072656164206569676874207061697273206F662073656E74656E63657320616E6420746F2063686F6F73652074686520626574746572206F6E65206F66206561636820706169722E2049742074616B65732061626F75742074776F206D696E757465732E0A0A54616B696E67207061727420697320766F6C756E746172793A20796F75206D61792073746F7020617420616E792074696D6520627920636C6F73696E672074686520706167652E2057652073746F726520796F75722063686F696365732C20686F77206C6F6E6720616E6420696E2077686963680A77617920796F75206D616465207468656D2C207768656E20796F7520746F6F6B20706172742C20616E6420796F757220616E7377657220746F206F6E65207175657374696F6E2061626F757420796F757273656C663B20776520646F206E6F742061736B20666F7220796F7572206E616D652E0A0A466F72207175657374696F6E732C206F7220746F206861766520796F757220616E73776572732064656C657465642C20777269746520746F2074686520726573656172636865722077686F736520636F6E7461637420697320676976656E20776865726520796F7520666F756E6420746869730A73747564792E0A');
INSERT INTO "study_file" VALUES(5,1,'texts/en/debrief.md',X'23205468616E6B20796F750A0A596F7520686176652066696E69736865642C20616E6420796F757220616E7377657273206172652073746F7265642E20496E20656163682070616972207468652076657262206F66206F6E652073656E74656E636520616772656564207769746820697473207375626A6563742C20616E64207468650A76657262206F6620746865206F7468657220646964206E6F742E0A');
INSERT INTO "study_file" VALUES(6,1,'texts/en/instructions.md',X'23205768617420746F20646F0A0A5265616420626F74682073656E74656E636573206361726566756C6C7920616E642063686F6F736520746865206F6E652074686174206973206D6F72652061636365707461626C6520746F20796F752E20436C69636B2069742C206F72207072657373202A2A312A2A20666F72207468652075707065720A6F6E6520616E64202A2A322A2A20666F7220746865206C6F776572206F6E652E20466F7220696E7374616E63652C202A5468652077696E646F777320617265206F70656E2A20697320626574746572207468616E202A5468652077696E646F7773206973206F70656E2A2E0A0A416363757261637920636F756E74732C206E6F742073706565642E0A');
INSERT INTO "study_file" VALUES(7,2,'grammar.toml',X'232054776F20636F6E737472756374696F6E732E20496E20746865207365636F6E642C206120706C7572616C206E6F756E206265747765656E207375626A65637420616E642076657262206C656164732072656164657273206173747261792E0A2320646F63732F6D6174657269616C732E6D64206578706C61696E7320746865206E6F746174696F6E2E0A0A5B6C657869636F6E2E7375626A6563745D0A666F726D73203D202273696E67756C6172207C20706C7572616C220A656E7472696573203D205B226368696C64207C206368696C6472656E222C20226E65696768626F72207C206E65696768626F7273222C202273696E676572207C2073696E67657273222C202262616B6572207C2062616B657273225D0A0A5B6C657869636F6E2E766572625D0A666F726D73203D202273696E67756C6172207C20706C7572616C220A656E7472696573203D205B22736C65657073207C20736C656570222C202264616E636573207C2064616E6365222C202273696E6773207C2073696E67222C20226973206861707079207C20617265206861707079225D0A0A5B6C657869636F6E2E617474726163746F725D0A666F726D73203D202273696E67756C6172207C20706C7572616C220A656E7472696573203D205B2274726565207C207472656573222C2022636172207C2063617273225D0A0A5B6C657869636F6E2E707265706F736974696F6E5D0A656E7472696573203D205B22626568696E64222C20226E656172225D0A0A5B5B74656D706C6174655D5D0A6E616D65203D202273696D706C65220A636F6E737472756374696F6E203D202273696D706C655F61677265656D656E74220A636F6E646974696F6E203D20227B6D61696E7D220A6665617475726573203D207B206D61696E203D205B2273696E67756C6172222C2022706C7572616C225D207D0A736C6F7473203D207B2053203D20227375626A656374222C2056203D20227665726222207D0A676F6F64203D2022746865207B532E6D61696E7D207B562E6D61696E7D220A626164203D2022746865207B532E6D61696E7D207B562E216D61696E7D220A0A5B5B74656D706C6174655D5D0A6E616D65203D20226163726F73735F706872617365220A636F6E737472756374696F6E203D202261677265656D656E745F6163726F73735F706872617365220A636F6E646974696F6E203D20227B6D61696E7D202F20706C7572616C220A6665617475726573203D207B206D61696E203D205B2273696E67756C6172222C2022706C7572616C225D207D0A736C6F7473203D207B2053203D20227375626A656374222C2050203D2022707265706F736974696F6E222C204E203D2022617474726163746F72222C2056203D20227665726222207D0A676F6F64203D2022746865207B532E6D61696E7D207B507D20746865207B4E2E706C7572616C7D207B562E6D61696E7D220A626164203D2022746865207B532E6D61696E7D207B507D20746865207B4E2E706C7572616C7D207B562E216D61696E7D220A');
INSERT INTO "study_file" VALUES(8,2,'published.csv',X'7461626C652C636F6E737472756374696F6E2C636F6E646974696F6E2C6A756467652C61636375726163792C736F757263652C6E6F74650A617373756D65642C73696D706C655F61677265656D656E742C2C70656F706C652C302E39372C617373756D656420666F722074686973206578616D706C652C4E6F74206120726573756C743A2073696D756C61746564207061727469636970616E747320616E73776572207769746820746869732061636375726163792E0A617373756D65642C61677265656D656E745F6163726F73735F7068726173652C2C70656F706C652C302E38352C617373756D656420666F722074686973206578616D706C652C4E6F74206120726573756C743A2073696D756C61746564207061727469636970616E747320616E73776572207769746820746869732061636375726163792E0A');
INSERT INTO "study_file" VALUES(9,2,'study.toml',X'23204120636F6D706C657465207374756479207468617420697320617320736D616C6C20617320612073747564792063616E2062653A20636F7079207468697320666F6C64657220746F20626567696E20796F7572206F776E2E0A2320646F63732F737475646965732E6D64206578706C61696E73206576657279206B65792C20646F63732F6D6174657269616C732E6D6420746865206772616D6D61722E0A70726573656E746174696F6E203D202273656E74656E63655F70616972220A0A5B73747564795D0A6E616D65203D20226D696E696D616C2220232074686520666F6C6465722773206E616D650A7469746C65203D202257686963682073656E74656E636520736F756E6473206265747465723F220A76657273696F6E203D2022312E30222023206368616E6765206974207768656E6576657220746865206D6174657269616C73206368616E67650A6C616E6775616765203D2022656E222023207468652074657874732061726520696E2074657874732F656E2F0A0A5B6D6174657269616C735D0A6772616D6D6172203D20226772616D6D61722E746F6D6C220A73686F776E5F746F5F70656F706C65203D202273656E74656E63655F63617365220A676976656E5F746F5F6D6F64656C73203D20226C6F7765725F636173655F746F6B656E73220A0A232054776F206C697374732C20666F757220706C6163657320696E20656163683A206569676874207061727469636970616E7473207769746820656967687420747269616C7320656163682E0A5B64657369676E5D0A6C69737473203D20320A7061727469636970616E74735F7065725F6C697374203D20340A747269616C735F7065725F6C697374203D20380A7365706172617465203D2022636F6E737472756374696F6E222023206E6F2074776F206E65696768626F7572696E6720747269616C7320617265206F66206F6E6520636F6E737472756374696F6E0A0A2320466F7572206672616D657320696E2074776F20636F6E646974696F6E73206D616B65206569676874206974656D732C20666F757220696E2065616368206C6973743A206F6E65207461726765742C20746872656520636174636820747269616C732E0A5B5B64657369676E2E737175617265735D5D0A74656D706C61746573203D205B2273696D706C65225D0A6672616D6573203D20340A63617463685F747269616C73203D20330A0A5B5B64657369676E2E737175617265735D5D0A74656D706C61746573203D205B226163726F73735F706872617365225D0A6672616D6573203D20340A0A232057686F657665722065727273206D6F7265207468616E206F6E6365206F6E2074686520666F7572207061697273206F66207468697320636F6E737472756374696F6E206973206578636C756465642E0A5B5B6578636C7573696F6E5D5D0A72756C65203D20226D61785F6572726F7273220A636F6E737472756374696F6E203D202273696D706C655F61677265656D656E74220A6D61785F6572726F7273203D20310A0A5B5B7175657374696F6E6E616972655D5D0A6E616D65203D20226E61746976655F6C616E6775616765220A6C6162656C203D20225768617420697320796F7572206E6174697665206C616E67756167653F220A74797065203D202274657874220A7265717569726564203D20747275650A0A2320536861726573206F66207468652073696D756C61746564207061727469636970616E74733B20746865792073756D20746F20312E20546865206163637572617465206F6E657320616E737765722061732077656C6C206173207468650A232070656F706C65206F66207075626C69736865642E6373762C2077686572652061207374756479206F6620796F7572206F776E20686173207265616C20726573756C7473206F7220616E20617373756D7074696F6E2E0A5B73696D756C6174696F6E5D0A6D6978203D207B206163637572617465203D20302E38382C206775657373696E67203D20302E30342C20616C776179735F6669727374203D20302E30342C20636172656C657373203D20302E3034207D0A6D656469616E5F72745F6D73203D20333530300A0A23204F6E2077686174207465726D7320776F726B657273206F66206120706179696E6720706C6174666F726D2074616B6520706172743B20646F63732F6D7475726B2E6D642E0A5B726563727569746D656E745D0A6465736372697074696F6E203D2022596F752077696C6C20736565207061697273206F662073686F727420456E676C6973682073656E74656E6365732E20496E206561636820706169722C2063686F6F736520746865206F6E65207468617420736F756E6473206265747465722E220A6B6579776F726473203D205B22656E676C697368222C20226772616D6D6172222C202273656E74656E636573222C20226A7564676D656E74222C20227265736561726368225D0A7265776172645F63656E7473203D2032300A6D656469616E5F6D696E75746573203D20310A6475726174696F6E5F6D696E75746573203D2033300A0A232054686520726F7773206F662074686520726573756C7473207461626C652E0A5B5B636F6E737472756374696F6E735D5D0A6E616D65203D202273696D706C655F61677265656D656E74220A7469746C65203D202253696D706C65220A67726F7570203D20225375626A6563742D766572622061677265656D656E74220A0A5B5B636F6E737472756374696F6E735D5D0A6E616D65203D202261677265656D656E745F6163726F73735F706872617365220A7469746C65203D20224163726F7373206120707265706F736974696F6E616C20706872617365220A67726F7570203D20225375626A6563742D766572622061677265656D656E74220A');
INSERT INTO "study_file" VALUES(10,2,'texts/en/consent.md',X'232054616B696E67207061727420696E20746869732073747564790A0A57652061736B20796F7520746F2072656164206569676874207061697273206F662073656E74656E63657320616E6420746F2063686F6F73652074686520626574746572206F6E65206F66206561636820706169722E2049742074616B65732061626F75742074776F206D696E757465732E0A0A54616B696E67207061727420697320766F6C756E746172793A20796F75206D61792073746F7020617420616E792074696D6520627920636C6F73696E672074686520706167652E2057652073746F726520796F75722063686F696365732C20686F77206C6F6E6720616E6420696E2077686963680A77617920796F75206D616465207468656D2C207768656E20796F7520746F6F6B20706172742C20616E6420796F757220616E7377657220746F206F6E65207175657374696F6E2061626F757420796F757273656C663B20776520646F206E6F742061736B20666F7220796F7572206E616D652E0A0A466F72207175657374696F6E732C206F7220746F206861766520796F757220616E73776572732064656C657465642C20777269746520746F2074686520726573656172636865722077686F736520636F6E7461637420697320676976656E20776865726520796F7520666F756E6420746869730A73747564792E0A');
INSERT INTO "study_file" VALUES(11,2,'texts/en/debrief.md',X'23205468616E6B20796F750A0A596F7520686176652066696E69736865642C20616E6420796F757220616E7377657273206172652073746F7265642E20496E20656163682070616972207468652076657262206F66206F6E652073656E74656E636520616772656564207769746820697473207375626A6563742C20616E64207468650A76657262206F6620746865206F7468657220646964206E6F742E0A');
INSERT INTO "study_file" VALUES(12,2,'texts/en/instructions.md',X'23205768617420746F20646F0A0A5265616420626F74682073656E74656E636573206361726566756C6C7920616E642063686F6F736520746865206F6E652074686174206973206D6F72652061636365707461626C6520746F20796F752E20436C69636B2069742C206F72207072657373202A2A312A2A20666F72207468652075707065720A6F6E6520616E64202A2A322A2A20666F7220746865206C6F776572206F6E652E20466F7220696E7374616E63652C202A5468652077696E646F777320617265206F70656E2A20697320626574746572207468616E202A5468652077696E646F7773206973206F70656E2A2E0A0A416363757261637920636F756E74732C206E6F742073706565642E0A');
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
INSERT INTO "trial" VALUES(1,1,1,3,'second');
INSERT INTO "trial" VALUES(2,1,2,6,'first');
INSERT INTO "trial" VALUES(3,1,3,4,'first');
INSERT INTO "trial" VALUES(4,1,4,8,'second');
INSERT INTO "trial" VALUES(5,1,5,1,'second');
INSERT INTO "trial" VALUES(6,1,6,7,'first');
INSERT INTO "trial" VALUES(7,1,7,2,'first');
INSERT INTO "trial" VALUES(8,1,8,5,'second');
INSERT INTO "trial" VALUES(9,2,1,15,'first');
INSERT INTO "trial" VALUES(10,2,2,9,'first');
INSERT INTO "trial" VALUES(11,2,3,14,'second');
INSERT INTO "trial" VALUES(12,2,4,11,'second');
INSERT INTO "trial" VALUES(13,2,5,16,'first');
INSERT INTO "trial" VALUES(14,2,6,10,'first');
INSERT INTO "trial" VALUES(15,2,7,13,'second');
INSERT INTO "trial" VALUES(16,2,8,12,'second');
INSERT INTO "trial" VALUES(17,3,1,7,'second');
INSERT INTO "trial" VALUES(18,3,2,4,'second');
INSERT INTO "trial" VALUES(19,3,3,6,'second');
INSERT INTO "trial" VALUES(20,3,4,2,'second');
INSERT INTO "trial" VALUES(21,3,5,8,'first');
INSERT INTO "trial" VALUES(22,3,6,1,'first');
INSERT INTO "trial" VALUES(23,3,7,5,'first');
INSERT INTO "trial" VALUES(24,3,8,3,'first');
INSERT INTO "trial" VALUES(25,4,1,11,'first');
INSERT INTO "trial" VALUES(26,4,2,16,'second');
INSERT INTO "trial" VALUES(27,4,3,9,'second');
INSERT INTO "trial" VALUES(28,4,4,14,'first');
INSERT INTO "trial" VALUES(29,4,5,10,'second');
INSERT INTO "trial" VALUES(30,4,6,13,'first');
INSERT INTO "trial" VALUES(31,4,7,12,'first');
INSERT INTO "trial" VALUES(32,4,8,15,'second');
INSERT INTO "trial" VALUES(33,5,1,6,'second');
INSERT INTO "trial" VALUES(34,5,2,3,'first');
INSERT INTO "trial" VALUES(35,5,3,8,'first');
INSERT INTO "trial" VALUES(36,5,4,4,'first');
INSERT INTO "trial" VALUES(37,5,5,5,'first');
INSERT INTO "trial" VALUES(38,5,6,2,'second');
INSERT INTO "trial" VALUES(39,5,7,7,'second');
INSERT INTO "trial" VALUES(40,5,8,1,'second');
INSERT INTO "trial" VALUES(41,6,1,15,'second');
INSERT INTO "trial" VALUES(42,6,2,11,'second');
INSERT INTO "trial" VALUES(43,6,3,14,'first');
INSERT INTO "trial" VALUES(44,6,4,12,'first');
INSERT INTO "trial" VALUES(45,6,5,13,'first');
INSERT INTO "trial" VALUES(46,6,6,9,'first');
INSERT INTO "trial" VALUES(47,6,7,16,'second');
INSERT INTO "trial" VALUES(48,6,8,10,'second');
INSERT INTO "trial" VALUES(49,7,1,6,'first');
INSERT INTO "trial" VALUES(50,7,2,1,'first');
INSERT INTO "trial" VALUES(51,7,3,5,'second');
INSERT INTO "trial" VALUES(52,7,4,3,'second');
INSERT INTO "trial" VALUES(53,7,5,8,'second');
INSERT INTO "trial" VALUES(54,7,6,2,'first');
INSERT INTO "trial" VALUES(55,7,7,7,'first');
INSERT INTO "trial" VALUES(56,7,8,4,'second');
INSERT INTO "trial" VALUES(57,8,1,14,'second');
INSERT INTO "trial" VALUES(58,8,2,9,'second');
INSERT INTO "trial" VALUES(59,8,3,13,'second');
INSERT INTO "trial" VALUES(60,8,4,10,'first');
INSERT INTO "trial" VALUES(61,8,5,15,'first');
INSERT INTO "trial" VALUES(62,8,6,11,'first');
INSERT INTO "trial" VALUES(63,8,7,16,'first');
INSERT INTO "trial" VALUES(64,8,8,12,'second');
INSERT INTO "trial" VALUES(65,9,1,22,'first');
INSERT INTO "trial" VALUES(66,9,2,17,'second');
INSERT INTO "trial" VALUES(67,9,3,23,'second');
INSERT INTO "trial" VALUES(68,9,4,19,'first');
INSERT INTO "trial" VALUES(69,9,5,21,'second');
INSERT INTO "trial" VALUES(70,9,6,20,'first');
INSERT INTO "trial" VALUES(71,9,7,24,'first');
INSERT INTO "trial" VALUES(72,9,8,18,'second');
INSERT INTO "trial" VALUES(73,11,1,30,'first');
INSERT INTO "trial" VALUES(74,11,2,27,'second');
INSERT INTO "trial" VALUES(75,11,3,32,'second');
INSERT INTO "trial" VALUES(76,11,4,26,'second');
INSERT INTO "trial" VALUES(77,11,5,29,'second');
INSERT INTO "trial" VALUES(78,11,6,28,'first');
INSERT INTO "trial" VALUES(79,11,7,31,'first');
INSERT INTO "trial" VALUES(80,11,8,25,'first');
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
INSERT INTO "verdict" VALUES(1,1,0,'max_errors','2 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(2,2,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(3,3,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(4,4,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(5,5,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(6,6,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(7,7,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
INSERT INTO "verdict" VALUES(8,8,1,'','0 errors on the 4 trials of simple_agreement; at most 1 allowed','2026-11-22 06:46:38.180585');
CREATE INDEX ix_hit_run_id ON hit (run_id);
CREATE INDEX ix_run_item_run_id ON run_item (run_id, list);
CREATE INDEX ix_event_participant_id ON event (participant_id);
CREATE INDEX ix_payment_run_id ON payment (run_id);
CREATE INDEX ix_payment_participant_id ON payment (participant_id);
CREATE INDEX ix_assignment_run_id ON assignment (run_id);
CREATE INDEX ix_assignment_participant_id ON assignment (participant_id);
COMMIT;
